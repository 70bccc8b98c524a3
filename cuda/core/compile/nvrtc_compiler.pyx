# SPDX-License-Identifier: Apache-2.0
# The compiler of C++ by NVRTC; each compilation needs its own native program.

from cuda.bindings.cynvrtc cimport (
    NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED,
    NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED,
)


cdef bytes as_expression(object value):
    if isinstance(value, str):
        return utf8(value, "a name expression")
    if isinstance(value, bytes):
        return value
    raise TypeError(f"a name expression must be str or bytes, got {type(value).__name__}")


cdef tuple as_expressions(object value):
    if isinstance(value, (str, bytes)):
        raise TypeError(
            f"name_expressions must be a tuple or list of str or bytes: write ({value!r},)")
    if value is None:
        return ()
    if not hasattr(type(value), "__iter__"):
        raise TypeError("name_expressions must be a tuple or list of str or bytes, got "
                        f"{qualified_name(value)}")
    return tuple(value)


cdef NvrtcProgram create_native(bytes source, object name):
    cdef NvrtcProgram program = NvrtcProgram.create(source, utf8(name, "the name"))
    note_nvrtc_in_use()
    return program


cdef NvrtcProgram prepare_native(bytes source, object name):
    """Return a native program, or an empty one if opening NVRTC can wait for the compilation."""
    if not is_nvrtc_expected():
        return create_native(source, name)
    c_text(source, "the source")
    c_text(utf8(name, "the name"), "the name of the program")
    return NvrtcProgram.__new__(NvrtcProgram)


@cython.final
cdef class NvrtcCompiler(Compiler):
    """The C++ compiler NVRTC; each compilation has its own target and name expressions."""

    cdef object __weakref__
    cdef NvrtcProgram native
    cdef bint is_used
    cdef bint is_closed
    cdef bytes source
    cdef object file_removal

    targets = ("ptx", "cubin", "ltoir", "tile_ir")
    backend = "NVRTC"
    accepts_names = True

    def __init__(self, str source, options):
        self.options = options
        self.name = options.name
        self.fixed_fields = copy_fields(options, ("name",))
        if (options.debug or options.lineinfo) and options.name == "default_program":
            source = self.write_debug_source(source)
        self.source = utf8(source, "the source")
        self.native = prepare_native(self.source, options.name)

    cdef str write_debug_source(self, str source):
        """Write the source to a file for debuggers; return it with a #line of that file."""
        from os import getpid
        from weakref import finalize

        from cuda.core.compile import debug_source

        path = debug_source.write(source)
        if path is None:
            return source
        self.name = path
        self.file_removal = finalize(self, debug_source.remove, path, getpid())
        return debug_source.named(source, path)

    @cython.critical_section
    cdef object handle(self):
        # The critical section excludes a compiling thread, which may replace the program.
        from cuda.bindings.nvrtc import nvrtcProgram

        if self.native.raw is NULL and not self.is_closed:
            program = create_native(self.source, self.fixed_fields["name"])
            # another thread may have created one, or closed the program
            if self.native.raw is NULL and not self.is_closed:
                self.native = program
        return nvrtcProgram(<uintptr_t>self.native.raw)

    cdef int close(self) except -1:
        if self.file_removal is not None:
            self.file_removal()
        self.is_closed = True
        self.native.close()

    cdef object compile(self, str target, object name_expressions, object logs):
        expressions = as_expressions(name_expressions)
        options = self.options_for(target)
        self.warn_of(target)
        self.run(options, expressions)
        image = self.native.image(target)
        # This PTX of the same compilation is not loaded; it describes the kernels' parameters.
        ptx = self.native.image("ptx") if target == "cubin" else b""
        names = {each: self.native.lowered_name(as_expression(each)) for each in expressions}
        # The log is last: `write` may run any code, even close the program or compile again.
        if logs is not None and (log := self.native.log()):
            logs.write(log)
        self.check_image(target, image)
        return make_object_code(image, target, self.name, names, declarations_of(ptx))

    cdef int warn_of(self, str target) except -1:
        if target == "ptx" and not _can_load_generated_ptx():
            warnings.warn(
                "The CUDA driver version is older than the backend version: the driver may not be "
                "able to load this PTX; compile to cubin, or install a newer driver",
                RuntimeWarning, stacklevel=1)  # compiled code has no frame: 1 is the caller

    cdef list options_for(self, str target):
        """Return the compiler's options, including those that the target requires."""
        result = self.options.as_bytes("nvrtc")
        if target == "ltoir" and not self.options.link_time_optimization:
            result.append(b"--dlink-time-opt")
        if target == "tile_ir" and not self.options.enable_tile and not self.options.tile_only:
            result.append(b"--enable-tile")
        # A cubin with line information contains PTX, which the emulator executes.
        if (target == "cubin" and not self.options.debug and not self.options.lineinfo
                and runs_on_emulator()):
            result.append(b"--generate-line-info")
        return result

    cdef int run(self, list options, tuple expressions) except -1:
        cdef nvrtcResult status = self.run_once(options, expressions)
        if not self.options.pch and self.options.create_pch is None:
            self.check_run(status)
            return 0
        header = self.native.header_status() if status == NVRTC_SUCCESS else status
        if header == NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED:
            set_header_bytes(self.native.header_bytes_needed())
            status = self.run_once(options, expressions)
            header = self.native.header_status() if status == NVRTC_SUCCESS else status
        self.check_run(status)
        self.header_status = (
            "created" if header == NVRTC_SUCCESS else
            "not_attempted" if header == NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED else "failed")

    cdef nvrtcResult run_once(self, list options, tuple expressions) except *:
        if self.is_used or self.native.raw is NULL:
            program = create_native(self.source, self.fixed_fields["name"])
            with cython.critical_section(self):
                self.native = program
        self.is_used = True
        for expression in expressions:
            self.native.add_expression(as_expression(expression))
        return self.native.compile(options)

    cdef void check_run(self, nvrtcResult status) except *:
        if status == NVRTC_SUCCESS:
            return
        log = self.native.log()
        if status == NVRTC_ERROR_INVALID_OPTION:
            log = f"NVRTC {'.'.join(map(str, nvrtc_version()))} rejects an option:\n{log}"
        error = nvrtc_error(status, b"nvrtcCompileProgram", log)
        hints_for = import_module("cuda.core.compile.failure_hints").hints_for
        for hint in hints_for(log, self.source.decode(), self.options):
            error.add_note(hint)
        raise error

    cdef void check_image(self, str target, bytes image) except *:
        if image.strip(b"\0") or self.options.fdevice_syntax_only:
            return
        if self.options.link_time_optimization:  # NVRTC generates LTO-IR only; loading reports it
            return
        arch = self.options.arch
        if target == "tile_ir" and self.options.simt_only:
            reason = "simt_only=True excludes it"
        elif not arch.startswith("sm_"):
            reason = f"arch={arch!r} is virtual: use arch='sm_{arch.rpartition('_')[2]}'"
        else:
            reason = "the options disable all output"
        raise RuntimeError(f"NVRTC generated no {target}: {reason}")


COMPILERS["c++"] = NvrtcCompiler
