# SPDX-License-Identifier: Apache-2.0
# A link by nvJitLink.

cimport cuda.bindings.cynvjitlink as cynvjitlink
from cuda.bindings.cynvjitlink cimport (
    _NVJITLINKRESULT_INTERNAL_LOADING_ERROR,
    NVJITLINK_ERROR_INVALID_INPUT,
    NVJITLINK_ERROR_UNRECOGNIZED_ARCH,
    NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
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


# The arguments and result of an nvJitLink call for the thread that executes it.
cdef struct link_call:
    nvJitLinkHandle* link
    nvJitLinkInputType kind
    const char* data   # the input, or its path
    size_t size
    const char* name
    const char** options
    uint32_t count
    link_size_getter get_size
    link_image_getter get_image
    void* into
    nvJitLinkResult status


cdef void call_create(void* argument) noexcept nogil:
    call = <link_call*>argument
    call.status = cynvjitlink.nvJitLinkCreate(call.link, call.count, call.options)


cdef void call_add_data(void* argument) noexcept nogil:
    call = <link_call*>argument
    call.status = cynvjitlink.nvJitLinkAddData(call.link[0], call.kind, call.data, call.size,
                                               call.name)


cdef void call_add_file(void* argument) noexcept nogil:
    call = <link_call*>argument
    call.status = cynvjitlink.nvJitLinkAddFile(call.link[0], call.kind, call.data)


cdef void call_complete(void* argument) noexcept nogil:
    call = <link_call*>argument
    call.status = cynvjitlink.nvJitLinkComplete(call.link[0])


cdef void call_size(void* argument) noexcept nogil:
    call = <link_call*>argument
    call.status = call.get_size(call.link[0], &call.size)


cdef void call_fetch(void* argument) noexcept nogil:
    call = <link_call*>argument
    call.status = call.get_image(call.link[0], call.into)


cdef void call_destroy(void* argument) noexcept nogil:
    call = <link_call*>argument
    call.status = cynvjitlink.nvJitLinkDestroy(call.link)


@cython.final
cdef class NvJitLinkSession(LinkSession):
    """A link by nvJitLink, which needs no driver.

    nvJitLink 13.5 stores memory of a link per thread and frees it when the thread terminates. The
    process crashes if one thread begins a link and another completes or destroys it. Each session
    therefore has its own thread.
    """

    cdef own_thread* thread
    cdef nvJitLinkHandle raw
    cdef list inputs       # memory that nvJitLink may read until the link is destroyed
    cdef bint is_complete
    cdef object failure    # status of a failed completion, or None

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
        cdef NvJitLinkSession session = NvJitLinkSession.__new__(NvJitLinkSession)
        cdef OptionList native_options = OptionList.of(options)
        cdef link_call call
        reject_fatal_options(options)
        call.count = native_options.count()
        call.options = native_options.texts
        try:
            session.run(call_create, &call, "nvJitLinkCreate")
        except Exception as error:
            error.add_note(f"options: {' '.join(map(log_text, options))}")
            raise
        return session

    cdef int run(self, void (*function)(void*) noexcept nogil, link_call* call,
                 str name) except -1:
        """Execute a call on the thread of the link; raise with the log on failure."""
        cdef uint64_t entry
        if not self.thread.is_of_this_process():
            raise RuntimeError("the parent process created this Linker before a fork: create a new "
                               "one in this process")
        call.link = &self.raw
        entry = enter_gate()
        with nogil:
            try:
                self.thread.run(function, call)
            finally:
                leave_gate(entry)
        if call.status != NVJITLINK_SUCCESS and name is not None:
            self.read_logs()
            raise library_error("nvjitlink", call.status, name, self.error_log)

    cdef int add(self, ObjectCode code) except -1:
        cdef bytes content, name = input_name(code)
        cdef link_call call
        damage = damage_of(input_bytes(code))
        if damage:
            raise library_error("nvjitlink", NVJITLINK_ERROR_INVALID_INPUT, "nvJitLinkAddData",
                                f"{code.label}: {damage}")
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
            if code.format == "ltoir":
                error.add_note("LTO-IR inputs need LinkerOptions(link_time_optimization=True)")
            if code.format == "ptx" and b".version" not in content:
                remove_notes(error)  # they advise another input type
                error.add_note("the input is not PTX, which begins with .version; compile C++ with "
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
        """Complete the link once; nvJitLink cannot complete a link again, even after a failure."""
        cdef link_call call
        if not self.is_complete:
            self.run(call_complete, &call, None)
            self.is_complete = True
            self.read_logs()
            if call.status != NVJITLINK_SUCCESS:
                self.failure = call.status
        if self.failure is not None:
            raise library_error("nvjitlink", self.failure, "nvJitLinkComplete", self.error_log)

    cdef bytes fetch(self, link_size_getter get_size, link_image_getter get_image, str function):
        """Query the size of an image, then the image."""
        cdef bytearray buffer
        cdef link_call call
        call.get_size = get_size
        call.get_image = get_image
        self.run(call_size, &call, function)
        buffer = bytearray(call.size)
        call.into = <char*>buffer
        self.run(call_fetch, &call, function)
        return bytes(buffer)

    cdef int read_logs(self) except -1:
        if self.raw is not NULL and self.thread.is_of_this_process():
            self.error_log = self.log(cynvjitlink.nvJitLinkGetErrorLogSize,
                                      <link_image_getter>cynvjitlink.nvJitLinkGetErrorLog)
            self.info_log = self.log(cynvjitlink.nvJitLinkGetInfoLogSize,
                                     <link_image_getter>cynvjitlink.nvJitLinkGetInfoLog)

    cdef str log(self, link_size_getter get_size, link_image_getter get_image):
        """Return a log; return an empty str on failure, so an earlier error stays visible."""
        cdef bytearray buffer
        cdef link_call call
        call.get_size = get_size
        call.get_image = get_image
        self.run(call_size, &call, None)
        if call.status != NVJITLINK_SUCCESS or call.size == 0:
            return ""
        buffer = bytearray(call.size)
        call.into = <char*>buffer
        self.run(call_fetch, &call, None)
        return log_text(bytes(buffer)) if call.status == NVJITLINK_SUCCESS else ""

    cdef object handle(self):
        return <uintptr_t>self.raw

    cdef int close(self) except -1:
        cdef link_call call
        if self.raw is NULL:
            return 0
        if not self.thread.is_of_this_process():
            self.raw = NULL  # the parent process destroys it
            return 0
        self.read_logs()
        self.run(call_destroy, &call, None)
        self.raw = NULL
        self.inputs = []
        if call.status != NVJITLINK_SUCCESS:
            raise library_error("nvjitlink", call.status, "nvJitLinkDestroy", "")


cdef int reject_fatal_options(list options) except -1:
    """Reject values for which nvJitLink 13.5 crashes the process."""
    import re

    problem = fatal_options.problem_of(options)
    if problem:
        raise library_error("nvjitlink", NVJITLINK_ERROR_UNRECOGNIZED_OPTION, "nvJitLinkCreate",
                            problem)
    for option in options:
        if re.fullmatch(rb"-arch=sm_0*[1-9]", option):
            raise library_error("nvjitlink", NVJITLINK_ERROR_UNRECOGNIZED_ARCH, "nvJitLinkCreate",
                                f"unrecognized architecture ({log_text(option)})")


cdef bytes declarations_of_ltoir(list options, list codes):
    """Return PTX that declares the parameters of kernels in LTO-IR, generated by nvJitLink.

    Return empty bytes on failure: launches then check the driver's parameter information only.
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
