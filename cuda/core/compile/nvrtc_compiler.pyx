# SPDX-License-Identifier: Apache-2.0
# C++ by NVRTC: one native program for each compilation, made anew when it was used.

from cuda.bindings.cynvrtc cimport (
    NVRTC_ERROR_INVALID_OPTION,
    NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED,
    NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED,
)


cdef bytes as_expression(object given):
    if isinstance(given, str):
        return given.encode()
    if isinstance(given, bytes):
        return given
    raise TypeError(f"a name expression must be str or bytes, got {type(given).__name__}")


cdef tuple as_expressions(object given):
    if isinstance(given, (str, bytes)):
        raise TypeError(
            f"name_expressions must be a tuple or list of str or bytes: write ({given!r},)")
    return () if given is None else tuple(given)


cdef list hints_for(str log):
    """What to do about a compilation that failed, as far as its log tells."""
    import re  # for errors only

    hints = []
    if missing := re.search(r'could not open source file "([^"]+)"', log):
        hints.append(
            f"{missing[1]} was not found: ProgramOptions(use_bundled_headers=True) finds the "
            "headers of CUDA, such as cuda_fp16.h, if NVRTC is 13.3 or newer; for others, and "
            "before, give include_path")
    if "__nv_name_map" in log:
        hints.append("a name expression was not found in the source: write it as C++ does, with "
                     "its namespace and its template arguments")
    return hints


@cython.final
cdef class NvrtcCompiler(Compiler):
    """C++, by a native program of NVRTC: each compilation has its own target and expressions."""

    cdef object __weakref__
    cdef NvrtcProgram native
    cdef bint is_used
    cdef bytes source
    cdef object file_removal

    targets = ("ptx", "cubin", "ltoir", "tile_ir")
    backend = "NVRTC"
    takes_names = True

    def __init__(self, str source, options):
        self.options = options
        self.name = options.name
        self.settled = settle(options, ("name",))
        if (options.debug or options.lineinfo) and options.name == "default_program":
            source = self.show_source(source)
        self.source = source.encode()
        self.native = NvrtcProgram.create(self.source, options.name.encode())

    cdef str show_source(self, str source):
        """Put the source into a file for debuggers; the source with its lines counted there."""
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
        # In a critical section: another thread may be compiling, and replace the native program.
        from cuda.bindings.nvrtc import nvrtcProgram

        return nvrtcProgram(<uintptr_t>self.native.raw)

    cdef int close(self) except -1:
        if self.file_removal is not None:
            self.file_removal()
        self.native.close()
        return 0

    cdef object compile(self, str target, object name_expressions, object logs):
        expressions = as_expressions(name_expressions)
        options = self.options_for(target)
        self.warn_of(target)
        self.run(options, expressions)
        image = self.native.image(target)
        # The same compilation made both; it is not loaded, but tells the parameters of the kernels.
        ptx = self.native.image("ptx") if target == "cubin" else b""
        names = {given: self.native.lowered_name(as_expression(given)) for given in expressions}
        # Last, since writing may run anything: it may close this, or compile again.
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
        return 0

    cdef list options_for(self, str target):
        """What the options say, and what the target needs in addition."""
        made = self.options.as_bytes("nvrtc")
        if target == "ltoir" and not self.options.link_time_optimization:
            made.append(b"--dlink-time-opt")
        if target == "tile_ir" and not self.options.enable_tile and not self.options.tile_only:
            made.append(b"--enable-tile")
        # The emulator runs the PTX that a cubin carries when it has line information.
        if (target == "cubin" and not self.options.debug and not self.options.lineinfo
                and runs_on_emulator()):
            made.append(b"--generate-line-info")
        return made

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
        return 0

    cdef nvrtcResult run_once(self, list options, tuple expressions) except *:
        if self.is_used or self.native.raw is NULL:
            fresh = NvrtcProgram.create(self.source, self.settled["name"].encode())
            with cython.critical_section(self):
                self.native = fresh
        self.is_used = True
        for given in expressions:
            self.native.add_expression(as_expression(given))
        return self.native.compile(options)

    cdef int check_run(self, nvrtcResult status) except -1:
        if status == NVRTC_SUCCESS:
            return 0
        log = self.native.log()
        if status == NVRTC_ERROR_INVALID_OPTION:
            log = f"NVRTC {'.'.join(map(str, nvrtc_version()))} refuses an option:\n{log}"
        error = nvrtc_error(status, b"nvrtcCompileProgram", log)
        for hint in hints_for(log):
            error.add_note(hint)
        raise error

    cdef int check_image(self, str target, bytes image) except -1:
        if image.strip(b"\0") or self.options.fdevice_syntax_only:
            return 0
        if self.options.link_time_optimization:  # NVRTC makes LTO-IR only; loading says so
            return 0
        arch = self.options.arch
        if target == "tile_ir" and self.options.simt_only:
            why = "simt_only=True leaves it out"
        elif not arch.startswith("sm_"):
            why = f"arch={arch!r} is virtual: use arch='sm_{arch.rpartition('_')[2]}'"
        else:
            why = "the options leave nothing to generate"
        raise RuntimeError(f"NVRTC made no {target}: {why}")


COMPILERS["c++"] = NvrtcCompiler
