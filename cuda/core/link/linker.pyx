# SPDX-License-Identifier: Apache-2.0
# Linker: object code of several sources to one.

from cuda.core.link import link_rows
from cuda.core.link.linker_options import current_arch

cdef tuple LINK_TARGETS = ("cubin", "ptx", "ltoir")


@cython.final
cdef class Linker:
    """Linker(*object_codes, options=None)\n--\n
    Joins object code of several sources into one, and resolves what they use of each other.

    Host only. nvJitLink links, or the driver where that is missing; the driver needs a current
    context and takes no LTO-IR. Owns the native linker; closing releases it.

    Parameters
    ----------
    *object_codes : ObjectCode
        What to link: PTX, cubins, LTO-IR, fat binaries, host objects and libraries with device
        code; images or paths.
    options : LinkerOptions or dict, optional
        How to link. Without an `arch` in it, for the current device.

    Raises
    ------
    ValueError
        If nothing is given, or code that the library does not take.
    TypeError
        If something is given that is no ObjectCode.
    nvJitLinkError, CUDAError
        If the library refuses an option or an input; the text holds its log.

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
        """The library that links: a `CompilerBackendType`. Host only.

        Returns
        -------
        CompilerBackendType
            ``"nvJitLink"``, or ``"driver"`` where that is missing or too old.
        """
        return linking_backend()

    @property
    def backend(self):
        """The library that links: a `CompilerBackendType`. Host only."""
        return linking_backend()

    @property
    def handle(self):
        """The native linker, 0 once closed: an int, or a `CUlinkState` where the driver links."""
        return None if sys.is_finalizing() else session_of(self).handle()

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.is_open

    def link(self, target_type):
        """Link, and return what was made.

        Blocks the host; other threads go on. The second call makes nothing new: it returns the
        same code, or another target of it, or raises the same error.

        Parameters
        ----------
        target_type : str or ObjectCodeFormatType
            ``"cubin"``; ``"ptx"``, for which the options have ``link_time_optimization=True,
            ptx=True`` and all inputs are LTO-IR; ``"ltoir"``, of the inputs that are LTO-IR. In
            any case. The driver makes cubins only.

        Returns
        -------
        ObjectCode
            Under the name of the options.

        Raises
        ------
        ValueError
            If that target is not made.
        nvJitLinkError, CUDAError
            If the inputs do not link; the text holds the log.
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
        """What the library says is wrong, as str; empty when that is nothing.

        Host only. Stays as it is after `link`, and after `close`.
        """
        with self.lock:
            session = session_of(self)
            session.read_logs()
            return session.error_log

    def get_info_log(self):
        """What the library tells of the link, as str; empty when that is nothing.

        Host only. Stays as it is after `link`, and after `close`. The options `verbose` and `time`
        make it longer.
        """
        with self.lock:
            session = session_of(self)
            session.read_logs()
            return session.info_log

    def close(self):
        """Release the native linker.

        Host only. Closing again does nothing; what was linked, and the logs, stay usable. Waits
        for a link that is under way on another thread.

        See Also
        --------
        cuLinkDestroy : the driver function.
        """
        with self.lock:
            if self.is_open:
                self.is_open = False
                session_of(self).close()


cdef LinkSession session_of(Linker self):
    if self.session is None:
        raise RuntimeError("Linker was not initialized")
    return <LinkSession>self.session


cdef object linking_backend():
    from cuda.core.typing import CompilerBackendType

    return CompilerBackendType.DRIVER if _decide_nvjitlink_or_driver() else \
        CompilerBackendType.NVJITLINK


cdef int check_object_codes(tuple codes) except -1:
    if not codes:
        raise ValueError("At least one ObjectCode object must be provided")
    for code in codes:
        if not isinstance(code, ObjectCode):
            raise TypeError(f"Expected type ObjectCode, but got {type(code).__name__}")
    return 0


cdef int begin_link(Linker self, list codes, object options) except -1:
    """Make the native linker and give it the inputs; on failure nothing is left of it."""
    cdef LinkSession session
    cdef list native
    if _decide_nvjitlink_or_driver():
        check_formats(codes, DriverSession, "the driver")
        native = link_rows.for_driver(options, current_arch)
        session = DriverSession.create(native)
    else:
        check_formats(codes, NvJitLinkSession, "nvJitLink")
        if options.arch is not None:
            check_arch(options.arch)
        native = link_rows.for_nvjitlink(options, current_arch)
        session = NvJitLinkSession.create(native)
    try:
        for code in codes:
            session.add(code)
        with self.lock:
            if self.session is not None:
                raise RuntimeError("Linker is initialised already")
            self.session = session
    except BaseException:
        session.close()
        raise
    self.codes = codes
    self.name = options.name
    self.native_options = native
    self.is_open = True
    return 0


cdef int check_formats(list codes, object cls, str library) except -1:
    for code in codes:
        if (<ObjectCode>code).format not in cls.kinds:
            raise ValueError(
                f"Unknown code_type associated with ObjectCode: {(<ObjectCode>code).format!r}; "
                f"{library} links {', '.join(cls.kinds)}")
    return 0


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
    return make_object_code(image, target, self.name, None, declarations)


NEEDS_LTOIR = ("link_time_optimization=True needs at least one input of LTO-IR, which "
               "Program(code, 'c++', {'link_time_optimization': True}).compile('ltoir') makes")
WHY_NOT = {  # where the linker has nothing to say
    "cubin": "no cubin is made where the options have ptx=True",
    "ltoir": "LTO-IR is made of LTO-IR only, with the option link_time_optimization=True",
    "ptx": "PTX is made of LTO-IR only, with the options link_time_optimization=True, ptx=True",
}


cdef bytes make_image(LinkSession session, str target, list codes):
    try:
        return session.make(target)
    except Exception as error:
        log = session.error_log
        if "Undefined reference" in log:
            error.add_note("no input defines what is named: give the code that does to the Linker, "
                           "too, under the very name (extern \"C\", or the mangled one)")
        elif "NO_MODULE" in log or "nvvmCompileProgram" in log and not may_have_ltoir(codes):
            error.add_note(NEEDS_LTOIR)  # linkers of CUDA 13.0 give the empty program to NVVM
        elif not log and target in WHY_NOT:
            error.add_note(WHY_NOT[target])
        raise


cdef bint may_have_ltoir(list codes):
    return any((<ObjectCode>code).format not in ("cubin", "ptx") for code in codes)


cdef bytes parameters_of_inputs(Linker self):
    """PTX that tells the parameters of the kernels, of all inputs where it can be had."""
    if self.declarations is None:
        ltoir = [code for code in self.codes if (<ObjectCode>code).format == "ltoir"]
        known = [known_declarations(<ObjectCode>code) for code in self.codes]
        known = [declarations_of(ptx) for ptx in known if ptx]
        if ltoir:
            known.append(declarations_of_ltoir(self.native_options, ltoir))
        self.declarations = b"\n".join(known)
    return self.declarations
