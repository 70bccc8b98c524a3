# SPDX-License-Identifier: Apache-2.0
# Linker: it links object code of several sources.

cdef tuple LINK_TARGETS = ("cubin", "ptx", "ltoir")


@cython.final
cdef class Linker:
    """Linker(*object_codes, options=None)\n--\n
    Links object code of several sources and resolves references between them.

    Host only. nvJitLink links, or the driver if nvJitLink is missing. The driver needs a current
    context and does not accept LTO-IR. The object owns the native linker; closing releases it.

    Parameters
    ----------
    *object_codes : ObjectCode
        Inputs: PTX, cubins, LTO-IR, fat binaries, host objects and libraries with device code;
        images or paths.
    options : LinkerOptions or dict, optional
        Linker options. Without `arch`, the target is the current device.

    Raises
    ------
    ValueError
        If no code is passed, or the library does not accept a format.
    TypeError
        If an argument is not an ObjectCode.
    nvJitLinkError, CUDAError
        If the library rejects an option or an input; the message contains its log.

    Warns
    -----
    RuntimeWarning
        Once, if the driver links because nvJitLink is missing or too old.

    See Also
    --------
    cuLinkCreate, cuLinkAddData : the driver functions.
    """

    def __init__(self, *object_codes, options=None):
        check_object_codes(object_codes)
        cls = public_object("LinkerOptions")
        options = as_options(options, cls, "The Linker options")
        begin_link(self, list(object_codes), cls() if options is None else options)

    def __cinit__(self):
        self.lock = RLock()

    def __repr__(self):
        return f"<Linker backend={str(linking_backend())!r}>"

    def __enter__(self):
        check_open(self.is_open, "Linker")
        return self

    def __exit__(self, *exc):
        self.close()

    def __reduce__(self):
        raise TypeError("cannot pickle 'Linker' object: it holds a native linker")

    @classmethod
    def which_backend(cls):
        """Return the library that links, a `CompilerBackendType`. Host only.

        Returns
        -------
        CompilerBackendType
            ``"nvJitLink"``, or ``"driver"`` if nvJitLink is missing or too old.
        """
        return linking_backend()

    @property
    def backend(self):
        """Library that links, a `CompilerBackendType`. Host only."""
        return linking_backend()

    @property
    def handle(self):
        """Native linker, an int, or a `CUlinkState` if the driver links; 0 once closed."""
        return None if sys.is_finalizing() else session_of(self).handle()

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.is_open

    def link(self, target_type):
        """Link, and return the object code.

        Blocks the host; other threads continue to run. A later call does not link again: it returns
        the same code, or another target of it, or raises the same error.

        Parameters
        ----------
        target_type : str or ObjectCodeFormatType
            ``"cubin"``, ``"ptx"`` or ``"ltoir"``, in any case. ``"ptx"`` requires the options
            ``link_time_optimization=True, ptx=True`` and only LTO-IR as inputs. ``"ltoir"`` links
            the inputs that are LTO-IR. The driver supports ``"cubin"`` only.

        Returns
        -------
        ObjectCode
            The linked code, with the name in the options and the names in the `symbol_mapping` of
        the inputs.

        Raises
        ------
        ValueError
            If the target is not supported.
        nvJitLinkError, CUDAError
            If the inputs do not link; the message contains the log.
        RuntimeError
            If the linker is closed.

        See Also
        --------
        cuLinkComplete : the driver function.
        """
        session_of(self)
        target = str(target_type).lower()
        if target not in LINK_TARGETS:
            raise ValueError(f"Unsupported target type: {target_type} (supported: "
                             f"{', '.join(LINK_TARGETS)})")
        return link_to(self, target)

    def get_error_log(self):
        """Return the library's error log as str, or an empty str.

        Host only. The log remains available after `link` and `close`.
        """
        with self.lock:
            session = session_of(self)
            session.read_logs()
            return session.error_log

    def get_info_log(self):
        """Return the library's information log as str, or an empty str.

        Host only. The log remains available after `link` and `close`. The options `verbose` and
        `time` extend it.
        """
        with self.lock:
            session = session_of(self)
            session.read_logs()
            return session.info_log

    def close(self):
        """Release the native linker.

        Host only. Closing twice is harmless; linked code and the logs stay usable. The call waits
        for a link in progress on another thread.

        See Also
        --------
        cuLinkDestroy : the driver function.
        """
        with self.lock:
            if self.is_open:
                self.is_open = False
                session_of(self).close()


cdef LinkSession session_of(Linker self):
    return <LinkSession>require_set(self, self.session)


cdef object linking_backend():
    from cuda.core.typing import CompilerBackendType

    return CompilerBackendType.DRIVER if _decide_nvjitlink_or_driver() else \
        CompilerBackendType.NVJITLINK


cdef int check_object_codes(tuple codes) except -1:
    if not codes:
        raise ValueError("At least one ObjectCode object must be provided")
    for code in codes:
        if not isinstance(code, ObjectCode):
            raise TypeError(f"Expected type ObjectCode, but got {type(code).__name__}"
                            f"{input_advice(code)}")


cdef str input_advice(object value):
    if isinstance(value, (list, tuple)):
        return ": pass each ObjectCode as an argument of its own"
    if isinstance(value, (bytes, bytearray)):
        return ": pass ObjectCode.from_cubin(code), or that of another format"
    return ": pass what Program.compile() returns" if isinstance(value, Program) else ""


cdef int begin_link(Linker self, list codes, object options) except -1:
    """Create the native linker and add the inputs; destroy it on failure."""
    from cuda.core.link import link_rows, linker_options  # a program in a cache needs no linker

    cdef LinkSession session
    cdef list native
    cdef str name = exact_str(options.name, "LinkerOptions.name")
    c_text(utf8(name, "the name of the options"), "the name of the options")
    if _decide_nvjitlink_or_driver():
        check_formats(codes, DriverSession, "the driver")
        native = link_rows.for_driver(options, linker_options.current_arch)
        session = DriverSession.create(native)
    else:
        check_formats(codes, NvJitLinkSession, "nvJitLink")
        native = linker_options.for_nvjitlink(options)
        session = create_nvjitlink_session(native, options.arch)
    try:
        for code in codes:
            session.add(code)
        with self.lock:
            if self.session is not None:
                raise RuntimeError("Linker is initialized already")
            self.session = session
    except BaseException:
        session.close()
        raise
    self.codes = codes
    self.name = name
    self.native_options = native
    self.is_open = True


cdef NvJitLinkSession create_nvjitlink_session(list native, object arch):
    """Create the session; nvJitLink names the option that it refuses, but no rule."""
    try:
        return NvJitLinkSession.create(native)
    except Exception as error:
        problem = None if arch is None else arch_problem(arch)
        if problem is not None:
            error.add_note(problem)
        raise


cdef int check_formats(list codes, object cls, str library) except -1:
    for code in codes:
        if (<ObjectCode>code).format not in cls.kinds:
            raise ValueError(
                f"Unknown code_type associated with ObjectCode: {(<ObjectCode>code).format!r}; "
                f"{library} links {', '.join(cls.kinds)}")


cdef ObjectCode link_to(Linker self, str target):
    cdef LinkSession session = session_of(self)
    begin = monotonic()
    with self.lock:
        check_open(self.is_open, "Linker")
        if target not in session.targets:
            raise ValueError(f"Unsupported target type: {target}: the driver links to "
                             f"{', '.join(session.targets)}")
        image = make_image(session, target, self.codes)
        declarations = parameters_of_inputs(self) if target == "cubin" else b""
    notify_log("note_linked", (len(self.codes), target, monotonic() - begin, len(image)))
    return make_object_code(image, target, self.name, names_of(self.codes), declarations)


cdef dict names_of(list codes):
    """Merge the symbol mappings of inputs, without names that inputs map to different symbols."""
    cdef dict names = {}
    ambiguous = set()
    for code in codes:
        for name, symbol in (<ObjectCode>code).mapping.items():
            if names.setdefault(name, symbol) != symbol:
                ambiguous.add(name)
    return {name: symbol for name, symbol in names.items() if name not in ambiguous}


NEEDS_LTOIR = ("link_time_optimization=True requires at least one LTO-IR input, which "
               "Program(code, 'c++', {'link_time_optimization': True}).compile('ltoir') creates")
TARGET_HINTS = {  # for an empty log
    "cubin": "the option ptx=True excludes cubin output",
    "ltoir": "LTO-IR output requires LTO-IR inputs and link_time_optimization=True",
    "ptx": "PTX output requires LTO-IR inputs, link_time_optimization=True and ptx=True",
}


cdef bytes make_image(LinkSession session, str target, list codes):
    try:
        return session.make(target)
    except Exception as error:
        log = session.error_log
        if "Undefined reference" in log:
            remove_notes(error)  # nvJitLink calls it an internal error
            error.add_note("no input defines the symbol: add the code that defines it under this "
                           "exact name (extern \"C\", or the mangled name) to the Linker")
        elif "NO_MODULE" in log or "nvvmCompileProgram" in log and not may_have_ltoir(codes):
            error.add_note(NEEDS_LTOIR)  # linkers of CUDA 13.0 pass an empty program to NVVM
        elif not log and target in TARGET_HINTS:
            error.add_note(TARGET_HINTS[target])
        raise


cdef bint may_have_ltoir(list codes):
    return any((<ObjectCode>code).format not in ("cubin", "ptx") for code in codes)


cdef bytes parameters_of_inputs(Linker self):
    """Return PTX that declares the kernels' parameters, from all inputs that provide it."""
    if self.declarations is None:
        ltoir = [code for code in self.codes if (<ObjectCode>code).format == "ltoir"]
        sources = [known_declarations(<ObjectCode>code) for code in self.codes]
        texts = [declarations_of(ptx) for ptx in sources if ptx]
        if ltoir:
            texts.append(declarations_of_ltoir(self.native_options, ltoir))
        self.declarations = b"\n".join(texts)
    return self.declarations
