# SPDX-License-Identifier: Apache-2.0
# cython: language_level=3
"""Foreign module, built against the .pxd files only: its cimports must work."""

from libc.string cimport memset
from cuda.bindings cimport cydriver, cynvrtc
from cuda.bindings.cydriver cimport (
    CU_STREAM_PER_THREAD,
    CUDA_ERROR_NOT_FOUND,
    CUDA_SUCCESS,
    CUDA_VERSION,
    CUcontext,
    CUdevice,
    CUDA_MEMCPY2D,
    CUeglFrame,
    CUlaunchAttributeValue,
    CUresult,
    CUstream,
    CUstreamBatchMemOpParams,
    CUtensorMap,
    cuuint64_t,
)
from cuda.bindings.driver cimport CUdeviceptr as PyDevicePointer
from cuda.bindings.driver cimport CUstream as PyStream
from cuda.bindings.driver cimport CUuuid as PyUuid


def count_devices():
    """Call without the GIL; the clause of the .pxd propagates an exception."""
    cdef int count = -1
    cdef CUresult code
    with nogil:
        code = cydriver.cuInit(0)
        if code == CUDA_SUCCESS:
            code = cydriver.cuDeviceGetCount(&count)
    return code, count


def nvrtc_version():
    cdef int major, minor
    return cynvrtc.nvrtcVersion(&major, &minor), major, minor


def nvrtc_text(int code):
    return cynvrtc.nvrtcGetErrorString(<cynvrtc.nvrtcResult>code)


def call_hidden_variant():
    """Call a variant that the header hides."""
    cdef CUcontext context = NULL
    cydriver.cuInit(0)
    cdef CUresult code = cydriver.cuCtxCreate_v2(&context, 0, 0)
    if code == CUDA_SUCCESS:
        cydriver.cuCtxDestroy(context)
    return code


def allocate_and_free(size_t size):
    cdef cydriver.CUdeviceptr pointer = 0
    cdef CUcontext context
    cydriver.cuInit(0)
    cydriver.cuDevicePrimaryCtxRetain(&context, 0)
    cydriver.cuCtxSetCurrent(context)
    allocated = cydriver.cuMemAlloc(&pointer, size)
    freed = cydriver.cuMemFree(pointer)
    cydriver.cuDevicePrimaryCtxRelease(0)
    return allocated, freed, pointer != 0


def constants():
    return CUDA_VERSION, <int>CUDA_ERROR_NOT_FOUND, <size_t>CU_STREAM_PER_THREAD


def members_of_structs():
    """Write and read anonymous members, unions and arrays in C."""
    cdef CUlaunchAttributeValue value
    cdef CUstreamBatchMemOpParams operation
    cdef CUDA_MEMCPY2D copy
    cdef CUeglFrame frame
    memset(&value, 0, sizeof(value))
    memset(&copy, 0, sizeof(copy))
    value.clusterDim.y = 7
    operation.waitValue.value64 = 11
    copy.WidthInBytes = 3
    frame.frame.pPitch[2] = <void*>5
    pitch = <size_t>frame.frame.pPitch[2]
    return value.clusterDim.y, operation.waitValue.value64, copy.WidthInBytes, pitch


def sizes():
    return sizeof(CUtensorMap), sizeof(CUdevice), sizeof(cuuint64_t), sizeof(CUeglFrame)


def stream_value(PyStream stream):
    """Read the value through the pointer, which views have too."""
    return <size_t>stream._pvt_ptr[0], <size_t>stream._pvt_val


def pointer_value(PyDevicePointer pointer):
    return pointer._pvt_ptr[0]


def set_uuid(PyUuid uuid, int value):
    memset(uuid._pvt_ptr, value, 16)
    return <size_t>uuid._pvt_ptr == <size_t>&uuid._pvt_val


cdef void count_call(void* data) noexcept with gil:
    (<list>data).append("called")


def call_host_function():
    """Pass a Cython function as callback: its type is the header's."""
    cdef CUcontext context
    cdef list calls = []
    cydriver.cuInit(0)
    cydriver.cuDevicePrimaryCtxRetain(&context, 0)
    cydriver.cuCtxSetCurrent(context)
    cdef cydriver.CUhostFn function = count_call
    cdef CUstream stream
    cydriver.cuStreamCreate(&stream, 0)
    with nogil:
        cydriver.cuLaunchHostFunc(stream, function, <void*>calls)
        cydriver.cuStreamSynchronize(stream)
        cydriver.cuStreamDestroy(stream)
        cydriver.cuDevicePrimaryCtxRelease(0)
    return calls
