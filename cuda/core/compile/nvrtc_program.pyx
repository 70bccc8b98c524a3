# SPDX-License-Identifier: Apache-2.0
# A native NVRTC program: its calls with error checks.


cimport cuda.bindings.cynvrtc as cynvrtc


cdef int check_nvrtc(nvrtcResult status, const char* function, NvrtcProgram program=None) except -1:
    if status != NVRTC_SUCCESS:
        raise nvrtc_error(status, function, program.log() if program is not None else None)


cdef tuple version_of_nvrtc():
    cdef int major, minor
    check_nvrtc(cynvrtc.nvrtcVersion(&major, &minor), "nvrtcVersion")
    return major, minor


cdef int set_header_bytes(size_t size) except -1:
    check_nvrtc(cynvrtc.nvrtcSetPCHHeapSize(size), "nvrtcSetPCHHeapSize")


cdef class NvrtcProgram:
    def __dealloc__(self):
        if self.raw is not NULL:
            cynvrtc.nvrtcDestroyProgram(&self.raw)

    @staticmethod
    cdef NvrtcProgram create(bytes source, bytes name):
        cdef NvrtcProgram self = NvrtcProgram.__new__(NvrtcProgram)
        cdef const char* text = c_text(source, "the source")
        cdef const char* title = c_text(name, "the name of the program")
        cdef nvrtcResult status
        cdef uint64_t entry = enter_gate()
        with nogil:
            try:
                status = cynvrtc.nvrtcCreateProgram(&self.raw, text, title, 0, NULL, NULL)
            finally:
                leave_gate(entry)
        check_nvrtc(status, "nvrtcCreateProgram")
        return self

    cdef int add_expression(self, bytes expression) except -1:
        cdef const char* text = c_text(expression, "a name expression")
        check_nvrtc(cynvrtc.nvrtcAddNameExpression(self.raw, text), "nvrtcAddNameExpression", self)

    cdef nvrtcResult compile(self, list options) except *:
        cdef OptionList native_options = OptionList.of(options)
        cdef int count = native_options.count()
        cdef nvrtcResult status
        problem = fatal_options.problem_of(options)
        if problem:
            raise nvrtc_error(NVRTC_ERROR_INVALID_OPTION, "nvrtcCompileProgram", problem)
        cdef uint64_t entry = enter_gate()
        with nogil:
            try:
                status = cynvrtc.nvrtcCompileProgram(self.raw, count, native_options.texts)
            finally:
                leave_gate(entry)
        return status

    cdef str log(self):
        return log_text(self.fetch(cynvrtc.nvrtcGetProgramLogSize, cynvrtc.nvrtcGetProgramLog,
                                   "nvrtcGetProgramLog"))

    cdef bytes image(self, str target):
        if target == "ptx":
            return self.fetch(cynvrtc.nvrtcGetPTXSize, cynvrtc.nvrtcGetPTX, "nvrtcGetPTX")
        if target == "cubin":
            return self.fetch(cynvrtc.nvrtcGetCUBINSize, cynvrtc.nvrtcGetCUBIN, "nvrtcGetCUBIN")
        if target == "tile_ir":
            return self.fetch(cynvrtc.nvrtcGetTileIRSize, cynvrtc.nvrtcGetTileIR, "nvrtcGetTileIR")
        return self.fetch(cynvrtc.nvrtcGetLTOIRSize, cynvrtc.nvrtcGetLTOIR, "nvrtcGetLTOIR")

    cdef bytes fetch(self, size_getter get_size, image_getter get_image, const char* function):
        """Query the size of an image, then the image."""
        cdef size_t size
        check_nvrtc(get_size(self.raw, &size), function)
        cdef bytearray buffer = bytearray(size)
        cdef char* into = buffer
        cdef nvrtcResult status = NVRTC_SUCCESS
        cdef uint64_t entry
        if size:
            entry = enter_gate()
            with nogil:
                try:
                    status = get_image(self.raw, into)
                finally:
                    leave_gate(entry)
        check_nvrtc(status, function)
        return bytes(buffer)

    cdef bytes lowered_name(self, bytes expression):
        cdef const char* name = NULL
        check_nvrtc(cynvrtc.nvrtcGetLoweredName(self.raw, expression, &name), "nvrtcGetLoweredName",
                    self)
        return name

    cdef nvrtcResult header_status(self) except *:
        return cynvrtc.nvrtcGetPCHCreateStatus(self.raw)

    cdef size_t header_bytes_needed(self) except? 0:
        cdef size_t size
        check_nvrtc(cynvrtc.nvrtcGetPCHHeapSizeRequired(self.raw, &size),
                    "nvrtcGetPCHHeapSizeRequired", self)
        return size

    cdef int close(self) except -1:
        if self.raw is not NULL:
            check_nvrtc(cynvrtc.nvrtcDestroyProgram(&self.raw), "nvrtcDestroyProgram")
            self.raw = NULL
