# SPDX-License-Identifier: Apache-2.0
# Import of arrays through DLPack.

from cpython.pycapsule cimport PyCapsule_SetName
from libc.stdint cimport INT64_MAX, int64_t, uint64_t

from cuda.core._core cimport dlpack_tensor

cdef const char* PLAIN = b"dltensor"
cdef const char* VERSIONED = b"dltensor_versioned"
cdef const char* USED_PLAIN = b"used_dltensor"
cdef const char* USED_VERSIONED = b"used_dltensor_versioned"


cdef void release_tensor(StridedMemoryView self) noexcept:
    """Call the deleter of the consumed tensor, once."""
    cdef managed_tensor* plain = self.plain
    cdef versioned_tensor* versioned = self.versioned
    self.plain = NULL
    self.versioned = NULL
    if plain is not NULL and plain.deleter is not NULL:
        plain.deleter(plain)
    if versioned is not NULL and versioned.deleter is not NULL:
        versioned.deleter(versioned)


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
    if is_ndarray(obj) or (hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__")):
        return import_dlpack(view, obj, stream_ptr)
    if hasattr(obj, "__cuda_array_interface__"):
        return import_cuda_array(view, obj, stream_ptr)
    raise no_protocol_error(obj)


cdef int check_order(int kind, object consumer) except -1:
    """Reject unsupported devices, and an omitted stream where it is ambiguous."""
    if kind in (DEVICE_CUDA_HOST, DEVICE_CUDA_MANAGED):
        return 0
    if kind != DEVICE_CPU and kind != DEVICE_CUDA:
        raise BufferError(f"device not supported: DLPack's kind {kind}")
    if consumer is None:
        raise ambiguous_stream_error()
    return 0


cdef object stream_for_producer(int kind, object consumer):
    """Return the stream argument of `__dlpack__`: None for host memory and default stream."""
    if kind == DEVICE_CPU or consumer == 0:
        return None
    return consumer


cdef int import_by_protocol(StridedMemoryView view, object obj, object stream_ptr) except -1:
    export = getattr(obj, "__dlpack__", None)
    if export is None or not hasattr(obj, "__dlpack_device__"):
        raise no_protocol_error(obj)
    device = obj.__dlpack_device__()
    try:
        kind_value, ordinal = device
    except (TypeError, ValueError) as error:
        raise BufferError(f"__dlpack_device__ of {type_name(obj)} must return a device type and an "
                          f"ordinal, got {device!r}") from error
    cdef int kind = PyNumber_Index(kind_value)
    consumer = stream_number(stream_ptr)
    check_order(kind, consumer)
    order = stream_for_producer(kind, consumer)
    try:
        capsule = export(stream=order,
                         max_version=(supported_version.major, supported_version.minor))
    except TypeError:  # an exporter without versioned capsules
        capsule = export(stream=order)
    view.source = obj
    consume(view, capsule)
    return set_device(view, kind, PyNumber_Index(ordinal))


cdef int consume(StridedMemoryView view, object capsule) except -1:
    """Move the tensor of a capsule to the view, which releases it in any case."""
    if PyCapsule_IsValid(capsule, VERSIONED):
        view.versioned = <versioned_tensor*>PyCapsule_GetPointer(capsule, VERSIONED)
        PyCapsule_SetName(capsule, USED_VERSIONED)
    elif PyCapsule_IsValid(capsule, PLAIN):
        view.plain = <managed_tensor*>PyCapsule_GetPointer(capsule, PLAIN)
        PyCapsule_SetName(capsule, USED_PLAIN)
    elif PyCapsule_IsValid(capsule, USED_PLAIN) or PyCapsule_IsValid(capsule, USED_VERSIONED):
        raise BufferError(f"__dlpack__ of {type_name(view.source)} returned a capsule that was "
                          "consumed before")
    else:
        raise BufferError(f"__dlpack__ of {type_name(view.source)} must return a DLPack capsule, "
                          f"got {type_name(capsule)}")
    return read_managed(view)


cdef int read_managed(StridedMemoryView view) except -1:
    """Check the version of the consumed tensor and read its flags and content."""
    if view.versioned is NULL:
        return read_tensor(view, &view.plain.content, False)
    if view.versioned.number.major != supported_version.major:
        raise BufferError(
            f"{type_name(view.source)} exports DLPack {view.versioned.number.major}."
            f"{view.versioned.number.minor}, but only {supported_version.major}.x is supported")
    if view.versioned.flags & read_only:
        view.flags |= VIEW_IS_READONLY
    if view.versioned.flags & is_copied:
        view.flags |= VIEW_IS_COPY
    return read_tensor(view, &view.versioned.content,
                       (view.versioned.flags & is_subbyte_padded) != 0)


cdef int read_tensor(StridedMemoryView view, const dlpack_tensor* tensor,
                     bint is_padded) except -1:
    cdef int axis, itemsize = itemsize_of_element(tensor.dtype, is_padded)
    cdef bint has_strides = tensor.ndim > 0 and tensor.strides is not NULL
    if tensor.ndim > 0 and tensor.shape is NULL:
        raise BufferError(f"the tensor of {type_name(view.source)} has no shape")
    if tensor.ndim < 0:
        raise BufferError(f"the tensor of {type_name(view.source)} has {tensor.ndim} axes")
    view.native = strided_layout(tensor.ndim, itemsize, has_strides)
    for axis in range(tensor.ndim):
        view.native.extents()[axis] = tensor.shape[axis]
        if has_strides:
            view.native.strides()[axis] = signed_stride(tensor.strides[axis], itemsize)
    check_layout(view.native)
    view.element = tensor.dtype
    view.fields.pointer = <uintptr_t>tensor.data + <uintptr_t>tensor.byte_offset
    view.flags |= VIEW_IS_SET
    return 0


cdef inline int64_t signed_stride(int64_t stride, int itemsize) noexcept:
    """A stride in elements.

    CuPy divides a negative stride in bytes as an unsigned number: -20 bytes become 2**62 - 5
    elements of 4 bytes. Since no memory is that large, the size in bytes reveals the sign.
    """
    if itemsize > 1 and stride > INT64_MAX // itemsize:
        return <int64_t>(<uint64_t>stride * <uint64_t>itemsize) // itemsize
    return stride


cdef int set_device(StridedMemoryView view, int kind, int ordinal) except -1:
    view.device_kind = <device_type>kind
    view.fields.is_device_accessible = kind != DEVICE_CPU
    view.fields.device = -1 if kind == DEVICE_CPU else ordinal
    view.ordinal = ordinal
    return 0
