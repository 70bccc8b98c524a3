# SPDX-License-Identifier: Apache-2.0
# cython: language_level=3
"""Foreign module that cimports the runtime: as C and as C++."""

from cuda.bindings cimport cyruntime
from cuda.bindings.cyruntime cimport (
    CUDART_VERSION,
    cudaEglFrame,
    cudaError_t,
    cudaErrorCallRequiresNewerDriver,
    cudaErrorInsufficientDriver,
    cudaExtent,
    cudaGraphNodeParams,
    cudaLaunchAttributeValue,
    cudaMemcpyKind,
    cudaMemcpyDefault,
    cudaStreamAttrID,
    cudaStreamAttrValue,
    cudaStreamPerThread,
    cudaSuccess,
    dim3,
)
from cuda.bindings.runtime cimport cudaArray_t as PyArray
from cuda.bindings.runtime cimport cudaStream_t as PyStream
from cuda.bindings.runtime cimport dim3 as PyDim3


def version():
    """Call in a block without the GIL."""
    cdef int version = 0
    cdef cudaError_t code
    with nogil:
        code = cyruntime.cudaRuntimeGetVersion(&version)
    return code, version


def count_devices():
    cdef int count = -1
    return cyruntime.cudaGetDeviceCount(&count), count


def names():
    return cyruntime.cudaGetErrorName(cudaErrorInsufficientDriver), cyruntime.cudaGetErrorString(
        cudaSuccess)


def structs_by_value():
    cdef cudaExtent extent = cyruntime.make_cudaExtent(1, 2, 3)
    cdef cyruntime.cudaChannelFormatDesc channels = cyruntime.cudaCreateChannelDesc(
        8, 8, 0, 0, cyruntime.cudaChannelFormatKindUnsigned)
    return extent.width, extent.depth, channels.y, channels.f


def allocate(size_t size):
    cdef void* pointer = NULL
    cdef cudaError_t code = cyruntime.cudaMalloc(&pointer, size)
    if code == cudaSuccess:
        code = cyruntime.cudaMemcpyAsync(pointer, pointer, 0, cudaMemcpyDefault, NULL)
        cyruntime.cudaFree(pointer)
    return code


def attribute(int value):
    """Use types that the header names by macros."""
    cdef cudaStreamAttrValue setting
    cdef cudaStreamAttrID attribute = <cudaStreamAttrID>cyruntime.cudaLaunchAttributePriority
    setting.priority = value
    return cyruntime.cudaStreamSetAttribute(NULL, attribute, &setting), setting.priority


def frame_is_refused():
    """Pass a struct that the .pxd declares itself, by value."""
    cdef cudaEglFrame frame
    frame.planeCount = 0
    frame.frameType = cyruntime.cudaEglFrameTypePitch
    return cyruntime.cudaEGLStreamProducerPresentFrame(NULL, frame, NULL) != cudaSuccess


def constants():
    return CUDART_VERSION, cudaErrorCallRequiresNewerDriver, <size_t>cudaStreamPerThread


def sizes():
    return sizeof(cudaGraphNodeParams), sizeof(cudaLaunchAttributeValue), sizeof(dim3), \
        sizeof(cudaMemcpyKind)


def values(PyStream stream, PyArray array, PyDim3 extents):
    """Return classes, one of them derived from a class of the driver."""
    return <size_t>stream._pvt_ptr[0], <size_t>array._pvt_val, extents._pvt_ptr[0].y


def version_of_shared_library():
    cdef int version = 0
    return cyruntime.getLocalRuntimeVersion(&version), version
