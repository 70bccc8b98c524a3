# SPDX-License-Identifier: Apache-2.0
# Content of a view: checks, element type, device, and the tensor that the view consumed.

from libc.stdint cimport INT64_MAX, UINT64_MAX, int64_t, uint64_t

from cuda.core._core cimport check_device_type, checked_tensor, dlpack_tensor


cdef inline int check_not_empty(StridedMemoryView self) except -1:
    """Reject an empty view. Accepts a view of a closed Buffer, whose layout remains valid."""
    if not self.flags & VIEW_IS_SET:
        raise ValueError("Cannot infer layout from the exporting object: the view is empty")


cdef inline int check_memory(StridedMemoryView self) except -1:
    """Reject an empty view, and a view of a closed Buffer."""
    check_not_empty(self)
    if self.fields.source is not NULL:
        check_open(self.fields.source.is_open, "Buffer")


cdef StridedMemoryView new_view(object cls):
    if cls is StridedMemoryView:
        return StridedMemoryView.__new__(StridedMemoryView)
    view = new_instance(cls, StridedMemoryView)
    if (<StridedMemoryView>view).flags & VIEW_IS_SET:
        raise_used_instance(cls)
    return <StridedMemoryView>view


cdef object no_protocol_error(object obj):
    return BufferError(f"the input object does not support any data exchange protocol: "
                       f"{qualified_name(obj)} has neither __dlpack__ and __dlpack_device__ nor "
                       "__cuda_array_interface__")


cdef data_type element_or_raise(StridedMemoryView self) except *:
    """Return the DLPack element type; BufferError if DLPack does not have it."""
    if self.element.bits:
        return self.element
    dtype = self.dtype
    if dtype is None:
        raise BufferError("Cannot export StridedMemoryView via DLPack without dtype information; "
                          "create the view with dtype specified.")
    if dtype.fields is not None:
        raise BufferError("Structured dtypes are not supported for DLPack export")
    if not dtype.isnative:
        raise BufferError("Non-native-endian dtypes are not supported for DLPack export")
    raise BufferError(f"Unsupported dtype for DLPack export: {dtype}")


cdef int check_order(int kind, object consumer) except -1:
    """Reject unsupported devices, and an omitted stream where it is ambiguous."""
    check_device_type(kind)
    if consumer is None and (kind == DEVICE_CPU or kind == DEVICE_CUDA):
        raise ambiguous_stream_error()


cdef int set_device(StridedMemoryView view, int kind, int ordinal) except -1:
    view.device_kind = <device_type>kind
    view.fields.is_device_accessible = kind != DEVICE_CPU
    view.fields.device = -1 if kind == DEVICE_CPU else ordinal
    view.ordinal = ordinal


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
