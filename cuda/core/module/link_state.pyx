# SPDX-License-Identifier: Apache-2.0
# LinkState: a CUlinkState with its inputs.


@cython.final
cdef class LinkState:
    """A link by the driver; a failed call raises CUDAError. Host only."""

    @staticmethod
    cdef LinkState create(list options):
        cdef LinkState state = LinkState.__new__(LinkState)
        cdef vector[link_option] native
        cdef link_option each
        for name, value in options:
            each.name = <CUjit_option><int>name
            each.value = value
            native.push_back(each)
        state.inputs = []
        initialize_driver()
        with nogil:
            state.native = create_link_state(native)
        return state

    cdef int add_data(self, int kind, bytes image, bytes name) except -1:
        cdef void* data = <char*>image
        cdef const char* title = name
        cdef size_t size = len(image)
        self.inputs.append((image, name))
        if kind == CU_JIT_INPUT_PTX and not image.endswith(b"\0"):
            size += 1  # the NUL that terminates every bytes object
        with nogil:
            call(driver.cuLinkAddData, self.native.raw(), <CUjitInputType>kind, data, size, title,
                 0, <CUjit_option*>NULL, <void**>NULL)

    cdef int add_file(self, int kind, bytes path) except -1:
        cdef const char* text = path
        with nogil:
            call(driver.cuLinkAddFile, self.native.raw(), <CUjitInputType>kind, text, 0,
                 <CUjit_option*>NULL, <void**>NULL)

    cdef bytes complete(self):
        cdef void* image = NULL
        cdef size_t size
        with nogil:
            call(driver.cuLinkComplete, self.native.raw(), &image, &size)
        return (<char*>image)[:size]

    cdef str error_log(self):
        return text_of(error_log_of(self.native))

    cdef str info_log(self):
        return text_of(info_log_of(self.native))

    cdef object handle(self):
        return as_bindings("CUlinkState", self.native.raw())

    cdef int close(self) except -1:
        self.native.reset()
        self.inputs = []
