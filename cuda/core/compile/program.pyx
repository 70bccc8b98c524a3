# SPDX-License-Identifier: Apache-2.0
# Program: source code with its compiler.


cdef str as_text(object code):
    """Return C++ or PTX source as str; bytes are UTF-8 and may end in NULs like PTX images."""
    if isinstance(code, (bytes, bytearray)):
        return bytes(code).rstrip(b"\0").decode()
    if isinstance(code, str):
        return code.rstrip("\0")
    advice = ""
    if isinstance(code, os.PathLike):
        advice = ": pass the text of the file, path.read_text()"
    raise TypeError(f"Expected type str, but got {type(code).__name__}{advice}")


cdef int check_source(object code, str code_type, object options) except -1:
    if code_type != "nvvm" and options.use_libdevice:
        raise ValueError("use_libdevice is only supported by the NVVM backend")
    if code_type not in CODE_TYPES:
        raise RuntimeError(
            f"Unsupported code_type={code_type!r} (supported_code_types={CODE_TYPES!r})")
    if code_type == "nvvm":
        if not isinstance(code, (str, bytes, bytearray)):
            raise TypeError("NVVM IR code must be provided as str, bytes, or bytearray, "
                            f"got {type(code).__name__}")
    else:
        as_text(code)
        if options.extra_sources is not None:
            backend = "NVRTC backend (C++ code_type)" if code_type == "c++" else "PTX backend"
            raise ValueError(f"extra_sources is not supported by the {backend}")


cdef class Program:
    """Program(code, code_type, options=None)\n--\n
    Source code that can be compiled to object code.

    Host only. Owns the compiler's native program and a temporary source file for debuggers;
    closing releases both.

    Parameters
    ----------
    code : str or bytes
        Source code: C++, PTX, or NVVM IR.
    code_type : str or SourceCodeType
        ``"c++"``, ``"ptx"`` or ``"nvvm"``, in any case.
    options : ProgramOptions or dict, optional
        Compiler options. Without `arch`, the target is the current device.

    Raises
    ------
    TypeError
        If `code` has the wrong type.
    RuntimeError
        If `code_type` is unknown, or its compiler library is missing.
    ValueError
        If `code_type` does not support an option.

    See Also
    --------
    nvrtcCreateProgram : the NVRTC function.
    """

    def __init__(self, code, code_type, options=None):
        code_type = str(code_type).lower()
        cls = public_object("ProgramOptions")
        options = as_options(options, cls, "The Program options")
        options = cls() if options is None else options
        check_source(code, code_type, options)
        if code_type == "nvvm":
            options.as_bytes("nvvm")  # raises for options that NVVM does not support
        check_arch(options.arch)
        source = bytes(code) if isinstance(code, bytearray) else code
        source = source if code_type == "nvvm" else as_text(source)
        compiler = COMPILERS[code_type](source, options)
        with self.lock:
            if self.compiler is not None:
                (<Compiler>compiler).close()
                raise RuntimeError("Program is initialized already")
            self.compiler = compiler
            self.source = source
            self.code_type = code_type
            self.is_open = True

    def __cinit__(self):
        self.lock = RLock()

    def __repr__(self):
        return f"<Program backend={compiler_of(self).backend!r}>"

    def __enter__(self):
        check_open(self.is_open, "Program")
        return self

    def __exit__(self, *exc):
        self.close()

    def __reduce__(self):
        raise TypeError("cannot pickle 'Program' object: it holds a native program of the compiler")

    def close(self):
        """Release the native program and the temporary source file.

        Host only. Closing twice is harmless; compiled object code stays usable.
        """
        with self.lock:
            if self.is_open:
                compiler_of(self).close()
                self.is_open = False

    @property
    def is_closed(self):
        """Whether `close` was called."""
        return not self.is_open

    @property
    def backend(self):
        """Compiler library, a `CompilerBackendType`."""
        from cuda.core.typing import CompilerBackendType

        return CompilerBackendType(compiler_of(self).backend)

    @property
    def handle(self):
        """Native program as `cuda.bindings.nvrtc.nvrtcProgram`; its value is 0 once closed."""
        return None if sys.is_finalizing() else compiler_of(self).handle()

    @property
    def pch_status(self):
        """Status of the last compilation's precompiled header, a `PCHStatusType`.

        None before a compilation, or if the options request no precompiled header.
        """
        from cuda.core.typing import PCHStatusType

        status = compiler_of(self).header_status if self.is_open else None
        return None if status is None else PCHStatusType(status)

    def compile(self, target_type, name_expressions=(), logs=None, *, cache=None, **removed):
        """Compile to object code.

        Blocks the host; other threads continue to run. Can be called repeatedly, with any target.

        Parameters
        ----------
        target_type : str or ObjectCodeFormatType
            ``"ptx"``, ``"cubin"`` or ``"ltoir"``, in any case. C++ also has ``"tile_ir"``: the
            kernels marked ``__tile_global__``, which the driver compiles on loading.
        name_expressions : tuple or list of str or bytes
            C++ expressions that name kernels, such as template instantiations. `symbol_mapping` of
            the result maps each to its mangled name. None means no expressions.
        logs : object with a method ``write(str)``, optional
            Receives the compiler's log unless it is empty.
        cache : ProgramCacheResource, optional
            Cache that is searched before compiling and updated after. A hit skips the compilation,
            so `logs` receives nothing. Errors of a user's cache are raised.

        Returns
        -------
        ObjectCode

        Raises
        ------
        NVRTCError
            If the source does not compile; the message contains the compiler's log.
        ValueError
            If the compiler does not support the target, or a cache does not support the options;
            see `make_program_cache_key`.
        TypeError
            If `cache` is not a cache, or `name_expressions` not a sequence of str and bytes.
        RuntimeError
            If the program is closed, or its options disable all output of the target.

        Warns
        -----
        RuntimeWarning
            If the driver is too old for the compiler's PTX. If a `FileStreamProgramCache` cannot
            store the result, which is returned.

        See Also
        --------
        nvrtcCompileProgram : the NVRTC function.
        """
        if "options" in removed:
            raise TypeError("compile() has no options: pass them to Program(..., options=...)")
        if removed:
            raise TypeError(f"compile() got an unexpected keyword argument {next(iter(removed))!r}")
        cdef Compiler compiler = compiler_of(self)
        check_cache(cache)
        check_open(self.is_open, "Program")
        target = str(target_type).lower()
        check_target(target, compiler)
        if cache is not None:
            return compile_through(self, cache, target, name_expressions, logs)
        return compile_now(self, target, name_expressions, logs)

    def link(self, target_type):
        """Create object code from PTX; an alias of `compile`.

        Blocks the host.
        """
        return self.compile(target_type)


cdef int check_target(str target, object compiler) except -1:
    if target not in compiler.targets:
        supported = ", ".join(map(repr, compiler.targets))
        raise ValueError(
            f'Unsupported target_type="{target}" for {compiler.backend} (supported: {supported})')


cdef int check_arch(object arch) except -1:
    """Reject an architecture that no compiler accepts, such as `90` instead of `sm_90`."""
    problem = arch_problem(arch)
    if problem is not None:
        raise ValueError(problem)


cdef int check_cache(object cache) except -1:
    if cache is None:
        return 0
    resource = cache_function("resource", "ProgramCacheResource")
    # The second check also accepts a registered virtual subclass, and takes 200 ns.
    if not (PyObject_TypeCheck(cache, <PyTypeObject*>resource) or isinstance(cache, resource)):
        raise TypeError("cache must be an instance of cuda.core.utils.ProgramCacheResource; got "
                        f"{type(cache).__name__}: pass FileStreamProgramCache(path) for a folder, "
                        "or InMemoryProgramCache()")
