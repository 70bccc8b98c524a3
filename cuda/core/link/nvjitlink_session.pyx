# SPDX-License-Identifier: Apache-2.0
# A link by nvJitLink.

cimport cuda.bindings.cynvjitlink as cynvjitlink
from cuda.bindings.cynvjitlink cimport (
    _NVJITLINKRESULT_INTERNAL_LOADING_ERROR,
    NVJITLINK_ERROR_UNRECOGNIZED_ARCH,
    NVJITLINK_INPUT_CUBIN,
    NVJITLINK_INPUT_FATBIN,
    NVJITLINK_INPUT_LIBRARY,
    NVJITLINK_INPUT_LTOIR,
    NVJITLINK_INPUT_OBJECT,
    NVJITLINK_INPUT_PTX,
    NVJITLINK_SUCCESS,
    nvJitLinkHandle,
    nvJitLinkInputType,
    nvJitLinkResult,
)

ctypedef nvJitLinkResult (*link_size_getter)(nvJitLinkHandle, size_t*) \
    except ?_NVJITLINKRESULT_INTERNAL_LOADING_ERROR nogil
ctypedef nvJitLinkResult (*link_image_getter)(nvJitLinkHandle, void*) \
    except ?_NVJITLINKRESULT_INTERNAL_LOADING_ERROR nogil

cdef dict NVJITLINK_KINDS = {
    "cubin": NVJITLINK_INPUT_CUBIN,
    "ptx": NVJITLINK_INPUT_PTX,
    "ltoir": NVJITLINK_INPUT_LTOIR,
    "fatbin": NVJITLINK_INPUT_FATBIN,
    "object": NVJITLINK_INPUT_OBJECT,
    "library": NVJITLINK_INPUT_LIBRARY,
}

cdef extern from "core/own_thread.hpp" namespace "halfwarp::core" nogil:
    cppclass own_thread:
        own_thread() except +
        bint is_of_this_process() noexcept
        void run(void (*)(void*) noexcept nogil, void*) noexcept


# One call of nvJitLink, as it is handed to the thread that makes it.
cdef struct link_call:
    nvJitLinkHandle* link
    nvJitLinkInputType kind
    const char* data   # the input, or the path of it
    size_t size
    const char* name
    const char** options
    uint32_t count
    link_size_getter ask_size
    link_image_getter ask
    void* into
    nvJitLinkResult status


cdef void call_create(void* given) noexcept nogil:
    call = <link_call*>given
    call.status = cynvjitlink.nvJitLinkCreate(call.link, call.count, call.options)


cdef void call_add_data(void* given) noexcept nogil:
    call = <link_call*>given
    call.status = cynvjitlink.nvJitLinkAddData(call.link[0], call.kind, call.data, call.size,
                                               call.name)


cdef void call_add_file(void* given) noexcept nogil:
    call = <link_call*>given
    call.status = cynvjitlink.nvJitLinkAddFile(call.link[0], call.kind, call.data)


cdef void call_complete(void* given) noexcept nogil:
    call = <link_call*>given
    call.status = cynvjitlink.nvJitLinkComplete(call.link[0])


cdef void call_size(void* given) noexcept nogil:
    call = <link_call*>given
    call.status = call.ask_size(call.link[0], &call.size)


cdef void call_fetch(void* given) noexcept nogil:
    call = <link_call*>given
    call.status = call.ask(call.link[0], call.into)


cdef void call_destroy(void* given) noexcept nogil:
    call = <link_call*>given
    call.status = cynvjitlink.nvJitLinkDestroy(call.link)


@cython.final
cdef class NvJitLinkSession(LinkSession):
    """A link by nvJitLink, which needs no driver.

    nvJitLink 13.5 keeps memory of a link for each thread that works on it, and gives it back when
    the thread ends: a link that was begun on one thread and completed or destroyed on another one
    ends the process. So each has a thread of its own.
    """

    cdef own_thread* thread
    cdef nvJitLinkHandle raw
    cdef list inputs       # what nvJitLink may read until the end
    cdef bint is_complete
    cdef object failure    # the status when the link was completed in vain

    kinds = tuple(NVJITLINK_KINDS)
    targets = ("cubin", "ptx", "ltoir")

    def __cinit__(self):
        self.thread = new own_thread()
        self.inputs = []

    def __dealloc__(self):
        cdef link_call call
        if self.raw is not NULL and self.thread.is_of_this_process():
            call.link = &self.raw
            with nogil:
                self.thread.run(call_destroy, &call)
        with nogil:
            del self.thread

    @staticmethod
    cdef NvJitLinkSession create(list options):
        cdef NvJitLinkSession made = NvJitLinkSession.__new__(NvJitLinkSession)
        cdef OptionList given = OptionList.of(options)
        cdef link_call call
        refuse_fatal_arch(options)
        call.count = given.count()
        call.options = given.texts
        try:
            made.run(call_create, &call, "nvJitLinkCreate")
        except Exception as error:
            error.add_note(f"options: {' '.join(map(log_text, options))}")
            raise
        return made

    cdef int run(self, void (*function)(void*) noexcept nogil, link_call* call,
                 str name) except -1:
        """Make a call on the thread of the link; raise with the log unless it succeeds."""
        cdef uint64_t passing
        if not self.thread.is_of_this_process():
            raise RuntimeError("the Linker was made before a fork, in the parent of this process: "
                               "make one here")
        call.link = &self.raw
        passing = enter_gate()
        with nogil:
            try:
                self.thread.run(function, call)
            finally:
                leave_gate(passing)
        if call.status != NVJITLINK_SUCCESS and name is not None:
            self.read_logs()
            raise library_error("nvjitlink", call.status, name, self.error_log)
        return 0

    cdef int add(self, ObjectCode code) except -1:
        cdef bytes content, name = input_name(code)
        cdef link_call call
        call.kind = <nvJitLinkInputType><int>NVJITLINK_KINDS[code.format]
        call.name = c_text(name, "the name of the code")
        if isinstance(code.image, str):
            content = os.fsencode(code.image)
            call.data = c_text(content, "the path of the code")
            return self.run(call_add_file, &call, "nvJitLinkAddFile")
        content = code.image
        self.inputs.append((content, name))
        call.data = content
        call.size = len(content)
        try:
            return self.run(call_add_data, &call, "nvJitLinkAddData")
        except Exception as error:
            if code.format == "ptx" and b".version" not in content:
                error.add_note("this is no PTX, which begins with .version; C++ is compiled with "
                               "code_type='c++'")
            raise

    cdef bytes make(self, str target):
        self.complete()
        if target == "ptx":
            return self.fetch(cynvjitlink.nvJitLinkGetLinkedPtxSize,
                              <link_image_getter>cynvjitlink.nvJitLinkGetLinkedPtx,
                              "nvJitLinkGetLinkedPtx")
        if target == "ltoir":
            return self.fetch(cynvjitlink.nvJitLinkGetLinkedLTOIRSize,
                              cynvjitlink.nvJitLinkGetLinkedLTOIR, "nvJitLinkGetLinkedLTOIR")
        return self.fetch(cynvjitlink.nvJitLinkGetLinkedCubinSize,
                          cynvjitlink.nvJitLinkGetLinkedCubin, "nvJitLinkGetLinkedCubin")

    cdef int complete(self) except -1:
        """Link, once: nvJitLink does not link again what it has linked, or failed to link."""
        cdef link_call call
        if not self.is_complete:
            self.run(call_complete, &call, None)
            self.is_complete = True
            self.read_logs()
            if call.status != NVJITLINK_SUCCESS:
                self.failure = call.status
        if self.failure is not None:
            raise library_error("nvjitlink", self.failure, "nvJitLinkComplete", self.error_log)
        return 0

    cdef bytes fetch(self, link_size_getter ask_size, link_image_getter ask, str function):
        """Two calls: how many bytes, then the bytes."""
        cdef bytearray made
        cdef link_call call
        call.ask_size = ask_size
        call.ask = ask
        self.run(call_size, &call, function)
        made = bytearray(call.size)
        call.into = <char*>made
        self.run(call_fetch, &call, function)
        return bytes(made)

    cdef int read_logs(self) except -1:
        if self.raw is not NULL and self.thread.is_of_this_process():
            self.error_log = self.log(cynvjitlink.nvJitLinkGetErrorLogSize,
                                      <link_image_getter>cynvjitlink.nvJitLinkGetErrorLog)
            self.info_log = self.log(cynvjitlink.nvJitLinkGetInfoLogSize,
                                     <link_image_getter>cynvjitlink.nvJitLinkGetInfoLog)
        return 0

    cdef str log(self, link_size_getter ask_size, link_image_getter ask):
        """A log, which is empty where nvJitLink has none: a failure at hand matters more."""
        cdef bytearray made
        cdef link_call call
        call.ask_size = ask_size
        call.ask = ask
        self.run(call_size, &call, None)
        if call.status != NVJITLINK_SUCCESS or call.size == 0:
            return ""
        made = bytearray(call.size)
        call.into = <char*>made
        self.run(call_fetch, &call, None)
        return log_text(bytes(made)) if call.status == NVJITLINK_SUCCESS else ""

    cdef object handle(self):
        return <uintptr_t>self.raw

    cdef int close(self) except -1:
        cdef link_call call
        if self.raw is NULL:
            return 0
        if not self.thread.is_of_this_process():
            self.raw = NULL  # it is the parent's to destroy
            return 0
        self.read_logs()
        self.run(call_destroy, &call, None)
        self.raw = NULL
        self.inputs = []
        if call.status != NVJITLINK_SUCCESS:
            raise library_error("nvjitlink", call.status, "nvJitLinkDestroy", "")
        return 0


cdef int refuse_fatal_arch(list options) except -1:
    """Refuse what nvJitLink 13.5 ends the process for: an architecture of one digit."""
    import re

    for option in options:
        if re.fullmatch(rb"-arch=sm_0*[1-9]", option):
            raise library_error("nvjitlink", NVJITLINK_ERROR_UNRECOGNIZED_ARCH, "nvJitLinkCreate",
                                f"unrecognized architecture ({log_text(option)})")
    return 0


cdef bytes declarations_of_ltoir(list options, list codes):
    """PTX that tells the parameters of the kernels of LTO-IR, which nvJitLink alone can read.

    Empty where that cannot be had: launches then check what the driver tells of the parameters.
    """
    cdef NvJitLinkSession session
    try:
        session = NvJitLinkSession.create(
            [option for option in options if option not in (b"-ptx", b"-r")] + [b"-ptx"])
        for code in codes:
            session.add(code)
        return declarations_of(session.make("ptx").rstrip(b"\0"))
    except import_module("cuda.bindings.nvjitlink").nvJitLinkError:
        return b""
