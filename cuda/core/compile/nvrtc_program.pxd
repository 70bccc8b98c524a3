# SPDX-License-Identifier: Apache-2.0
# A native NVRTC program: its calls with error checks.

from cuda.bindings.cynvrtc cimport NVRTC_ERROR_INVALID_INPUT, nvrtcProgram, nvrtcResult

ctypedef nvrtcResult (*size_getter)(nvrtcProgram, size_t*) except ?NVRTC_ERROR_INVALID_INPUT nogil
ctypedef nvrtcResult (*image_getter)(nvrtcProgram, char*) except ?NVRTC_ERROR_INVALID_INPUT nogil


@cython.final
cdef class NvrtcProgram:
    cdef nvrtcProgram raw

    @staticmethod
    cdef NvrtcProgram create(bytes source, bytes name)
    cdef int add_expression(self, bytes expression) except -1
    # Returns the status of the compilation; log() returns NVRTC's messages.
    cdef nvrtcResult compile(self, list options) except *
    cdef str log(self)
    cdef bytes image(self, str target)
    cdef bytes fetch(self, size_getter get_size, image_getter get_image, const char* function)
    cdef bytes lowered_name(self, bytes expression)
    # Returns the status of precompiled header creation in the last compilation.
    cdef nvrtcResult header_status(self) except *
    cdef size_t header_bytes_needed(self) except? 0
    cdef int close(self) except -1


cdef tuple version_of_nvrtc()
cdef int set_header_bytes(size_t size) except -1
