# SPDX-License-Identifier: Apache-2.0
# The compiler of PTX: a linker assembles it, nvJitLink or the driver if nvJitLink is missing.

# Fields that the options of a program and of a linker share.
cdef tuple SHARED_WITH_LINKER = (
    "name", "arch", "debug", "lineinfo", "ptxas_options", "max_register_count", "ftz", "prec_sqrt",
    "prec_div", "fma", "link_time_optimization", "split_compile", "no_cache")


cdef object linker_options_of(object options):
    """Return the linker options that correspond to a program's options."""
    fields = {name: getattr(options, name) for name in SHARED_WITH_LINKER}
    # A program's `time` is the path of a file; a linker writes to its log instead.
    fields["time"] = True if options.time is not None else None
    return public_object("LinkerOptions")(**fields)


@cython.final
cdef class PtxCompiler(Compiler):
    """The compiler of PTX, a linker with the PTX as its only input."""

    cdef Linker linker

    targets = ("cubin", "ptx")

    def __init__(self, str source, options):
        if options.numba_debug:
            warnings.warn("numba_debug is ignored for code_type='ptx': it is an option of the "
                          "compilers of C++ and NVVM IR", UserWarning, stacklevel=1)
        self.options = options
        self.name = options.name
        self.fixed_fields = copy_fields(options, (*SHARED_WITH_LINKER, "time"))
        code = make_object_code(utf8(source, "the source"), "ptx", self.name, None)
        self.linker = Linker(code, options=linker_options_of(options))

    @property
    def backend(self):
        return str(linking_backend())

    cdef object handle(self):
        return self.linker.handle

    cdef int close(self) except -1:
        self.linker.close()

    cdef object compile(self, str target, object name_expressions, object logs):
        code = link_to(self.linker, target)
        # The log is last, since `write` may run any code.
        if logs is not None and (log := self.linker.get_info_log()):
            logs.write(log)
        return code


COMPILERS["ptx"] = PtxCompiler
