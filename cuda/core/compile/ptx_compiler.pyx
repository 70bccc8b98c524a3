# SPDX-License-Identifier: Apache-2.0
# PTX by a linker: nvJitLink assembles it, or the driver where that is missing.

# What the options of a program and those of a linker have in common.
cdef tuple SHARED_WITH_LINKER = (
    "name", "arch", "debug", "lineinfo", "ptxas_options", "max_register_count", "ftz", "prec_sqrt",
    "prec_div", "fma", "link_time_optimization", "split_compile", "no_cache")


cdef object linker_options_of(object options):
    """What a linker is given of the options of a program."""
    given = {name: getattr(options, name) for name in SHARED_WITH_LINKER}
    # Of the program it is the path of a file, which a linker does not write.
    given["time"] = True if options.time is not None else None
    return public_object("LinkerOptions")(**given)


@cython.final
cdef class PtxCompiler(Compiler):
    """PTX, by a linker that has it as its only input."""

    cdef Linker linker

    targets = ("cubin", "ptx")

    def __init__(self, str source, options):
        if options.numba_debug:
            warnings.warn("numba_debug is ignored for code_type='ptx': it is an option of the "
                          "compilers of C++ and NVVM IR", UserWarning, stacklevel=1)
        self.options = options
        self.name = options.name
        self.settled = settle(options, (*SHARED_WITH_LINKER, "time"))
        code = make_object_code(source.encode(), "ptx", options.name, None)
        self.linker = Linker(code, options=linker_options_of(options))

    @property
    def backend(self):
        return str(linking_backend())

    cdef object handle(self):
        return self.linker.handle

    cdef int close(self) except -1:
        self.linker.close()
        return 0

    cdef object compile(self, str target, object name_expressions, object logs):
        made = link_to(self.linker, target)
        # Last, since writing may run anything.
        if logs is not None and (log := self.linker.get_info_log()):
            logs.write(log)
        return made


COMPILERS["ptx"] = PtxCompiler
