# SPDX-License-Identifier: Apache-2.0
# Reference-counted driver handles for C++ outside of this package. The last copy destroys the
# driver object.
#
# Compile as C++20, with `cuda/core/_include` and the CUDA headers as include paths. A function that
# creates a handle returns an empty handle if the driver call fails; `get_last_error()` returns the
# status.

from cuda.bindings cimport cydriver
from libc.stdint cimport intptr_t
from libcpp.memory cimport shared_ptr

ctypedef shared_ptr[const cydriver.CUcontext] ContextHandle
ctypedef shared_ptr[const cydriver.CUgreenCtx] GreenCtxHandle
ctypedef shared_ptr[const cydriver.CUstream] StreamHandle
ctypedef shared_ptr[const cydriver.CUevent] EventHandle
ctypedef shared_ptr[const cydriver.CUmemoryPool] MemoryPoolHandle
ctypedef shared_ptr[const cydriver.CUdeviceptr] DevicePtrHandle
ctypedef shared_ptr[const cydriver.CUlibrary] LibraryHandle
ctypedef shared_ptr[const cydriver.CUkernel] KernelHandle
ctypedef shared_ptr[const cydriver.CUgraph] GraphHandle
ctypedef shared_ptr[const cydriver.CUgraphExec] GraphExecHandle
ctypedef shared_ptr[const cydriver.CUgraphNode] GraphNodeHandle
ctypedef shared_ptr[const void] KeptHandle

ctypedef cydriver.CUresult (*_destroy_context)(
    cydriver.CUcontext) except? cydriver.CUDA_ERROR_NOT_FOUND nogil
ctypedef cydriver.CUresult (*_destroy_stream)(
    cydriver.CUstream) except? cydriver.CUDA_ERROR_NOT_FOUND nogil
ctypedef cydriver.CUresult (*_destroy_event)(
    cydriver.CUevent) except? cydriver.CUDA_ERROR_NOT_FOUND nogil
ctypedef cydriver.CUresult (*_destroy_library)(
    cydriver.CUlibrary) except? cydriver.CUDA_ERROR_NOT_FOUND nogil
ctypedef cydriver.CUresult (*_destroy_kernel)(
    cydriver.CUkernel) except? cydriver.CUDA_ERROR_NOT_FOUND nogil

cdef extern from "python/foreign/resource_handles.hpp" namespace "halfwarp::foreign" nogil:
    cydriver.CUresult get_last_error() noexcept
    KeptHandle keep(object owner)

    cydriver.CUcontext as_cu(ContextHandle) noexcept
    cydriver.CUgreenCtx as_cu(GreenCtxHandle) noexcept
    cydriver.CUstream as_cu(StreamHandle) noexcept
    cydriver.CUevent as_cu(EventHandle) noexcept
    cydriver.CUmemoryPool as_cu(MemoryPoolHandle) noexcept
    cydriver.CUdeviceptr as_cu(DevicePtrHandle) noexcept
    cydriver.CUlibrary as_cu(LibraryHandle) noexcept
    cydriver.CUkernel as_cu(KernelHandle) noexcept
    cydriver.CUgraph as_cu(GraphHandle) noexcept
    cydriver.CUgraphExec as_cu(GraphExecHandle) noexcept
    cydriver.CUgraphNode as_cu(GraphNodeHandle) noexcept

    intptr_t as_intptr(ContextHandle) noexcept
    intptr_t as_intptr(GreenCtxHandle) noexcept
    intptr_t as_intptr(StreamHandle) noexcept
    intptr_t as_intptr(EventHandle) noexcept
    intptr_t as_intptr(MemoryPoolHandle) noexcept
    intptr_t as_intptr(DevicePtrHandle) noexcept
    intptr_t as_intptr(LibraryHandle) noexcept
    intptr_t as_intptr(KernelHandle) noexcept
    intptr_t as_intptr(GraphHandle) noexcept
    intptr_t as_intptr(GraphExecHandle) noexcept
    intptr_t as_intptr(GraphNodeHandle) noexcept

    ContextHandle own_context "halfwarp::foreign::own"(
        cydriver.CUresult, cydriver.CUcontext, _destroy_context, KeptHandle)
    StreamHandle own_stream "halfwarp::foreign::own"(
        cydriver.CUresult, cydriver.CUstream, _destroy_stream, KeptHandle)
    EventHandle own_event "halfwarp::foreign::own"(
        cydriver.CUresult, cydriver.CUevent, _destroy_event, KeptHandle)
    LibraryHandle own_library "halfwarp::foreign::own"(
        cydriver.CUresult, cydriver.CUlibrary, _destroy_library, KeptHandle)
    KernelHandle own_kernel "halfwarp::foreign::own"(
        cydriver.CUresult, cydriver.CUkernel, _destroy_kernel, KeptHandle)

    object _as_object "halfwarp::foreign::as_object"(ContextHandle, const char*)
    object _as_object "halfwarp::foreign::as_object"(StreamHandle, const char*)
    object _as_object "halfwarp::foreign::as_object"(EventHandle, const char*)
    object _as_object "halfwarp::foreign::as_object"(LibraryHandle, const char*)
    object _as_object "halfwarp::foreign::as_object"(KernelHandle, const char*)

ctypedef fused _Handle:
    ContextHandle
    StreamHandle
    EventHandle
    LibraryHandle
    KernelHandle


# Converts a handle to an object of `cuda.bindings.driver`, which does not own the driver object.
cdef inline object as_py(_Handle handle):
    if _Handle is ContextHandle:
        return _as_object(handle, b"CUcontext")
    elif _Handle is StreamHandle:
        return _as_object(handle, b"CUstream")
    elif _Handle is EventHandle:
        return _as_object(handle, b"CUevent")
    elif _Handle is LibraryHandle:
        return _as_object(handle, b"CUlibrary")
    else:
        return _as_object(handle, b"CUkernel")


# Returns the current context of this thread without a reference to it.
cdef inline ContextHandle get_current_context() noexcept nogil:
    cdef cydriver.CUcontext raw = NULL
    cdef cydriver.CUresult code = cydriver.cuCtxGetCurrent(&raw)
    return own_context(code, raw, NULL, KeptHandle())


# Returns the primary context of a device, which stays retained until the process exits.
cdef inline ContextHandle get_primary_context(int device) noexcept nogil:
    cdef cydriver.CUcontext raw = NULL
    cdef cydriver.CUresult code = cydriver.cuDevicePrimaryCtxRetain(&raw, device)
    return own_context(code, raw, NULL, KeptHandle())


# Creates a stream, which keeps its context alive and is destroyed with its last handle.
cdef inline StreamHandle create_stream_handle(ContextHandle context, unsigned int flags,
                                              int priority) noexcept nogil:
    cdef cydriver.CUstream raw = NULL
    cdef cydriver.CUcontext before = NULL
    cdef cydriver.CUresult code = cydriver.cuCtxPushCurrent(as_cu(context))
    if code == cydriver.CUDA_SUCCESS:
        code = cydriver.cuStreamCreateWithPriority(&raw, flags, priority)
        cydriver.cuCtxPopCurrent(&before)
    return own_stream(code, raw, cydriver.cuStreamDestroy, <KeptHandle>context)


# Wraps a stream owned by a Python object: the handle keeps the object alive.
cdef inline StreamHandle create_stream_handle_with_owner(cydriver.CUstream stream, object owner):
    return own_stream(cydriver.CUDA_SUCCESS, stream, NULL, keep(owner))


# Creates an event, which keeps its context alive and is destroyed with its last handle.
cdef inline EventHandle create_event_handle(ContextHandle context,
                                            unsigned int flags) noexcept nogil:
    cdef cydriver.CUevent raw = NULL
    cdef cydriver.CUcontext before = NULL
    cdef cydriver.CUresult code = cydriver.cuCtxPushCurrent(as_cu(context))
    if code == cydriver.CUDA_SUCCESS:
        code = cydriver.cuEventCreate(&raw, flags)
        cydriver.cuCtxPopCurrent(&before)
    return own_event(code, raw, cydriver.cuEventDestroy, <KeptHandle>context)


# Creates an event in the current context, without keeping the context alive.
cdef inline EventHandle create_event_handle_noctx(unsigned int flags) noexcept nogil:
    cdef cydriver.CUevent raw = NULL
    cdef cydriver.CUresult code = cydriver.cuEventCreate(&raw, flags)
    return own_event(code, raw, cydriver.cuEventDestroy, KeptHandle())


# Loads a library, which is unloaded with the last handle of it or of its kernels.
cdef inline LibraryHandle create_library_handle_from_data(const void* data) noexcept nogil:
    cdef cydriver.CUlibrary raw = NULL
    cdef cydriver.CUresult code = cydriver.cuLibraryLoadData(&raw, data, NULL, NULL, 0, NULL, NULL,
                                                             0)
    return own_library(code, raw, cydriver.cuLibraryUnload, KeptHandle())


cdef inline LibraryHandle create_library_handle_from_file(const char* path) noexcept nogil:
    cdef cydriver.CUlibrary raw = NULL
    cdef cydriver.CUresult code = cydriver.cuLibraryLoadFromFile(&raw, path, NULL, NULL, 0, NULL,
                                                                 NULL, 0)
    return own_library(code, raw, cydriver.cuLibraryUnload, KeptHandle())


cdef inline KernelHandle create_kernel_handle(LibraryHandle library,
                                              const char* name) noexcept nogil:
    cdef cydriver.CUkernel raw = NULL
    cdef cydriver.CUresult code = cydriver.cuLibraryGetKernel(&raw, as_cu(library), name)
    return own_kernel(code, raw, NULL, <KeptHandle>library)
