# SPDX-License-Identifier: Apache-2.0
# Import of arrays through DLPack.

from cpython.pycapsule cimport PyCapsule_SetName
from libc.stdint cimport INT64_MAX, UINT64_MAX, int64_t, uint64_t

from cuda.core._core cimport (
    check_device_type, checked_tensor, dlpack_device, dlpack_tensor, find_tensor, tensor_capsule,
    tensor_device,
)

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
    check_device_type(kind)
    if consumer is None and (kind == DEVICE_CPU or kind == DEVICE_CUDA):
        raise ambiguous_stream_error()
    return 0


cdef object stream_for_producer(int kind, object consumer):
    """Return the stream argument of `__dlpack__`: None for host memory and default stream."""
    if kind == DEVICE_CPU or consumer == 0:
        return None
    return consumer


cdef int import_by_protocol(StridedMemoryView view, object obj, object stream_ptr) except -1:
    if getattr(obj, "__dlpack__", None) is None or not hasattr(obj, "__dlpack_device__"):
        raise no_protocol_error(obj)
    cdef dlpack_device device = tensor_device(obj)
    cdef int kind = <int>device.type
    consumer = stream_number(stream_ptr)
    check_order(kind, consumer)
    capsule = tensor_capsule(obj, stream_for_producer(kind, consumer))
    view.source = obj
    consume(view, capsule)
    return set_device(view, kind, device.id)


cdef int consume(StridedMemoryView view, object capsule) except -1:
    """Move the tensor of a capsule to the view, which releases it in any case."""
    find_tensor(capsule, view.source, &view.plain, &view.versioned)
    PyCapsule_SetName(capsule, USED_PLAIN if view.versioned is NULL else USED_VERSIONED)
    return read_managed(view)


cdef int read_managed(StridedMemoryView view) except -1:
    """Check the consumed tensor, and read its flags and content."""
    cdef const dlpack_tensor* tensor = checked_tensor(view.plain, view.versioned, view.source)
    if view.versioned is NULL:
        return read_tensor(view, tensor, False)
    if view.versioned.flags & read_only:
        view.flags |= VIEW_IS_READONLY
    if view.versioned.flags & is_copied:
        view.flags |= VIEW_IS_COPY
    return read_tensor(view, tensor, (view.versioned.flags & is_subbyte_padded) != 0)


cdef int read_tensor(StridedMemoryView view, const dlpack_tensor* tensor,
                     bint is_padded) except -1:
    """Read the content of a checked tensor."""
    cdef int axis, itemsize = itemsize_of_element(tensor.dtype, is_padded)
    cdef bint has_strides = tensor.ndim > 0 and tensor.strides is not NULL
    view.native = strided_layout(tensor.ndim, itemsize, has_strides)
    for axis in range(tensor.ndim):
        view.native.extents()[axis] = tensor.shape[axis]
        if has_strides:
            view.native.strides()[axis] = signed_stride(tensor.strides[axis], itemsize)
    view.element = tensor.dtype
    view.fields.pointer = <uintptr_t>tensor.data + <uintptr_t>tensor.byte_offset
    check_reach(view.native, view.fields.pointer)
    view.flags |= VIEW_IS_SET
    return 0


# No address space is larger, in bytes.
cdef uint64_t LARGEST_DISTANCE = 1 << 57


cdef inline int64_t signed_stride(int64_t stride, int itemsize) noexcept:
    """A stride in elements.

    CuPy divides a negative stride in bytes as an unsigned number: -20 bytes become 2**62 - 5
    elements of 4 bytes. Since no memory is that large, the size in bytes reveals the sign.
    """
    cdef uint64_t distance
    if itemsize > 1 and stride > INT64_MAX // itemsize:
        # The distance of a negative stride fits 64 bits. A larger one is no distance at all.
        if <uint64_t>stride > UINT64_MAX // <uint64_t>itemsize:
            return stride
        distance = <uint64_t>stride * <uint64_t>itemsize
        if -distance <= LARGEST_DISTANCE:
            return -<int64_t>(-distance // <uint64_t>itemsize)
    return stride


cdef int set_device(StridedMemoryView view, int kind, int ordinal) except -1:
    view.device_kind = <device_type>kind
    view.fields.is_device_accessible = kind != DEVICE_CPU
    view.fields.device = -1 if kind == DEVICE_CPU else ordinal
    view.ordinal = ordinal
    return 0
