# SPDX-License-Identifier: Apache-2.0
# Import of arrays through DLPack.

from cpython.pycapsule cimport PyCapsule_SetName

from cuda.core._core cimport dlpack_device, exported_capsule, find_tensor, stated_device

cdef const char* USED_PLAIN = b"used_dltensor"
cdef const char* USED_VERSIONED = b"used_dltensor_versioned"


cdef int import_dlpack(StridedMemoryView view, object obj, object stream_ptr) except -1:
    """Import an object by the fastest supported method."""
    if type(obj) is Buffer:
        return import_buffer(view, <Buffer>obj, stream_ptr)
    if is_ndarray(obj):
        if stream_ptr is None:
            raise ambiguous_stream_error()
        if type(stream_ptr) is int and (stream_ptr == -1 or stream_ptr == 0):
            if import_ndarray(view, obj):
                return 0
    elif type(obj) is StridedMemoryView:
        return import_view(view, <StridedMemoryView>obj, stream_ptr)
    elif is_torch_tensor(obj):
        return import_torch_fast(view, obj, stream_ptr)
    elif import_by_exchange_table(view, obj, stream_ptr):
        return 0
    return import_by_protocol(view, obj, stream_ptr)


cdef int import_any(StridedMemoryView view, object obj, object stream_ptr) except -1:
    if is_ndarray(obj) or has_dlpack(obj):
        return import_dlpack(view, obj, stream_ptr)
    if hasattr(obj, "__cuda_array_interface__"):
        return import_cuda_array(view, obj, stream_ptr)
    raise no_protocol_error(obj)


cdef object stream_for_producer(int kind, object consumer):
    """Return the stream argument of `__dlpack__`: None for host memory and default stream."""
    if kind == DEVICE_CPU or consumer == 0:
        return None
    return consumer


cdef int import_by_protocol(StridedMemoryView view, object obj, object stream_ptr) except -1:
    cdef dlpack_device device
    cdef int kind
    try:
        device = stated_device(obj.__dlpack_device__(), obj)
        kind = <int>device.type
        consumer = stream_number(stream_ptr)
        check_order(kind, consumer)
        capsule = exported_capsule(obj, stream_for_producer(kind, consumer))
    except (AttributeError, TypeError):
        if has_dlpack(obj):
            raise
        raise no_protocol_error(obj) from None
    view.source = obj
    consume(view, capsule)
    return set_device(view, kind, device.id)


cdef int consume(StridedMemoryView view, object capsule) except -1:
    """Move the tensor of a capsule to the view, which releases it in any case."""
    find_tensor(capsule, view.source, &view.plain, &view.versioned)
    PyCapsule_SetName(capsule, USED_PLAIN if view.versioned is NULL else USED_VERSIONED)
    return read_managed(view)
