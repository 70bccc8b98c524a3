# SPDX-License-Identifier: Apache-2.0
# Source text with its compiler.


cdef str as_text(object code):
    """C++ or PTX source as text; bytes are UTF-8, and may end in NULs as PTX images do."""
    if isinstance(code, (bytes, bytearray)):
        return bytes(code).rstrip(b"\0").decode()
    if isinstance(code, str):
        return code.rstrip("\0")
    raise TypeError(f"Expected type str, but got {type(code).__name__}")


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
    return 0


cdef class Program:
    """Program(code, code_type, options=None)\n--\n
    Source code, ready to be compiled to object code.

    Host only. Owns the compiler's native program, and the temporary file that shows the source to
    debuggers; closing releases both.

    Parameters
    ----------
    code : str or bytes
        The source: C++, PTX, or NVVM IR.
    code_type : str or SourceCodeType
        ``"c++"``, ``"ptx"`` or ``"nvvm"``, in any case.
    options : ProgramOptions or dict, optional
        How to compile. Without an `arch` in it, the current device is compiled for.

    Raises
    ------
    TypeError
        If `code` is of the wrong type.
    RuntimeError
        If `code_type` is not known, or a library is missing that compiles it.
    ValueError
        If an option is given that `code_type` does not have.

    See Also
    --------
    nvrtcCreateProgram : the function of the runtime compiler.
    """

    def __init__(self, code, code_type, options=None):
        code_type = str(code_type).lower()
        cls = public_object("ProgramOptions")
        options = as_options(options, cls, "The Program options")
        options = cls() if options is None else options
        check_source(code, code_type, options)
        if code_type == "nvvm":
            options.as_bytes("nvvm")  # raises for options that NVVM does not have
        check_arch(options.arch)
        source = bytes(code) if isinstance(code, bytearray) else code
        source = source if code_type == "nvvm" else as_text(source)
        made = COMPILERS[code_type](source, options)
        with self.lock:
            if self.compiler is not None:
                (<Compiler>made).close()
                raise RuntimeError("Program is initialised already")
            self.compiler = made
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

        Host only. Closing again does nothing; object code that was made stays usable.
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
        """The compiler: a `CompilerBackendType`."""
        from cuda.core.typing import CompilerBackendType

        return CompilerBackendType(compiler_of(self).backend)

    @property
    def handle(self):
        """The native program as `cuda.bindings.nvrtc.nvrtcProgram`; of value 0 once closed."""
        return None if sys.is_finalizing() else compiler_of(self).handle()

    @property
    def pch_status(self):
        """What became of the precompiled header in the last compilation: a `PCHStatusType`.

        None when none was asked for, or nothing was compiled.
        """
        from cuda.core.typing import PCHStatusType

        status = compiler_of(self).header_status if self.is_open else None
        return None if status is None else PCHStatusType(status)

    def compile(self, target_type, name_expressions=(), logs=None, *, cache=None, **removed):
        """Compile to object code.

        Blocks the host; other threads go on. May be called any number of times, with any target.

        Parameters
        ----------
        target_type : str or ObjectCodeFormatType
            ``"ptx"``, ``"cubin"`` or ``"ltoir"``, in any case. C++ also has ``"tile_ir"``: the
            kernels marked ``__tile_global__``, which the driver compiles when they are loaded.
        name_expressions : tuple or list of str or bytes
            Kernels to make of templates or find in namespaces, as C++ expressions; the result's
            `symbol_mapping` has the mangled name of each. None stands for none.
        logs : object with a method ``write(str)``, optional
            Gets what the compiler says, unless that is nothing.
        cache : ProgramCacheResource, optional
            Where to look for the result before compiling, and to store it after. What is found is
            not compiled: `logs` gets nothing. Errors of the cache are raised.

        Returns
        -------
        ObjectCode

        Raises
        ------
        NVRTCError
            If the source does not compile; the text holds the compiler's log.
        ValueError
            If the compiler does not make that target, or a cache cannot stand for what the
            options do: `make_program_cache_key` says which.
        TypeError
            If `cache` is no cache, or `name_expressions` no sequence of str and bytes.
        RuntimeError
            If the program is closed, or its options leave nothing of that target.

        Warns
        -----
        RuntimeWarning
            If the driver is too old for the PTX that is made.

        See Also
        --------
        nvrtcCompileProgram : the function of the runtime compiler.
        """
        if "options" in removed:
            raise TypeError("compile() takes no options: give them to Program(..., options=...)")
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
        """Make object code of PTX: another name of `compile`.

        Blocks the host.
        """
        return self.compile(target_type)


cdef object compile_now(Program self, str target, object name_expressions, object logs):
    begin = monotonic()
    with self.lock:
        check_open(self.is_open, "Program")
        made = compiler_of(self).compile(target, name_expressions, logs)
    notify_log("note_compiled",
               (compiler_of(self).backend, target, monotonic() - begin, len(made.code)))
    return made


cdef Compiler compiler_of(Program self):
    if self.compiler is None:
        raise RuntimeError("Program was not initialized")
    return <Compiler>self.compiler


cdef int check_target(str target, object compiler) except -1:
    if target not in compiler.targets:
        supported = ", ".join(map(repr, compiler.targets))
        raise ValueError(
            f'Unsupported target_type="{target}" for {compiler.backend} (supported: {supported})')
    return 0


cdef int check_arch(object arch) except -1:
    """Refuse what no compiler takes, before one is asked: `90` in place of `sm_90`."""
    number = str(arch).removeprefix("sm_").removeprefix("compute_").rstrip("abcdef")
    if isinstance(arch, str) and arch.startswith(("sm_", "compute_")) and number.isdigit():
        return 0
    hint = f": write 'sm_{number}'" if number.isdigit() else ""
    raise ValueError(f"arch must be 'sm_NN' or 'compute_NN', got {arch!r}{hint}")


cdef int check_cache(object cache) except -1:
    if cache is None:
        return 0
    if not isinstance(cache, cache_function("resource", "ProgramCacheResource")):
        raise TypeError("cache must be an instance of cuda.core.utils.ProgramCacheResource; got "
                        f"{type(cache).__name__}")
    return 0
