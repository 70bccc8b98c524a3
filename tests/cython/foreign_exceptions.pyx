# SPDX-License-Identifier: Apache-2.0
# cython: language_level=3
"""Foreign module that cimports the libraries whose functions raise, without a header."""

from libc.stdint cimport intptr_t, uint32_t
from cuda.bindings cimport cynvfatbin, cynvjitlink, cynvrtc, cynvvm, nvfatbin, nvjitlink, nvvm
from cuda.bindings.cynvjitlink cimport (
    NVJITLINK_ERROR_NULL_INPUT,
    NVJITLINK_INPUT_PTX,
    NVJITLINK_SUCCESS,
    nvJitLinkHandle,
    nvJitLinkInputType,
    nvJitLinkResult,
)


def link(bytes ptx, bytes arch):
    """Link PTX to a cubin, in C only and without the GIL."""
    cdef nvJitLinkHandle handle = NULL
    cdef const char* option = arch
    cdef const char* code = ptx
    cdef size_t length = len(ptx), size = 0
    cdef nvJitLinkResult result
    with nogil:
        result = cynvjitlink.nvJitLinkCreate(&handle, 1, &option)
        if result == NVJITLINK_SUCCESS:
            result = cynvjitlink.nvJitLinkAddData(
                handle, NVJITLINK_INPUT_PTX, code, length, "foreign.ptx")
        if result == NVJITLINK_SUCCESS:
            result = cynvjitlink.nvJitLinkComplete(handle)
        if result == NVJITLINK_SUCCESS:
            result = cynvjitlink.nvJitLinkGetLinkedCubinSize(handle, &size)
        cynvjitlink.nvJitLinkDestroy(&handle)
    return result, size, handle == NULL


def versions():
    cdef unsigned int major = 0, minor = 0
    cdef int first = 0, second = 0
    assert cynvjitlink.nvJitLinkVersion(&major, &minor) == 0
    assert cynvvm.nvvmVersion(&first, &second) == 0
    versions = [(major, minor), (first, second)]
    assert cynvfatbin.nvFatbinVersion(&major, &minor) == 0
    return [*versions, (major, minor)]


def error_texts():
    return (cynvvm.nvvmGetErrorString(cynvvm.NVVM_ERROR_INVALID_IR),
            cynvfatbin.nvFatbinGetErrorString(cynvfatbin.NVFATBIN_ERROR_INVALID_ARCH),
            cynvrtc.nvrtcGetErrorString(cynvrtc.NVRTC_ERROR_COMPILATION))


def values_of_types():
    cdef nvJitLinkInputType kind = NVJITLINK_INPUT_PTX
    cdef int not_loaded = <int>cynvjitlink._NVJITLINKRESULT_INTERNAL_LOADING_ERROR
    return kind, NVJITLINK_ERROR_NULL_INPUT, not_loaded


def call_python_functions():
    """Call functions of the Python modules, inlined with their C types."""
    cdef intptr_t handle = nvjitlink.create(1, ["-arch=sm_90"])
    cdef size_t size = nvjitlink.get_error_log_size(handle)
    nvjitlink.destroy(handle)
    cdef intptr_t program = nvvm.create_program()
    nvvm.destroy_program(program)
    cdef intptr_t fatbin = nvfatbin.create([], 0)
    cdef size_t bytes_of_fatbin = nvfatbin.size(fatbin)
    nvfatbin.destroy(fatbin)
    return handle != 0, program != 0, size < 4096, bytes_of_fatbin > 0, nvjitlink.version()


def fail_in_python_function():
    cdef uint32_t none = 0
    return nvjitlink.create(none, [])
