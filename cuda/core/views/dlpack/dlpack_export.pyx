# SPDX-License-Identifier: Apache-2.0
# Export of views as DLPack tensors.

from cuda.core._core cimport (
    accepts_versioned, check_dlpack_request, dlpack_device, make_dlpack_capsule,
)


cdef int describe_tensor(StridedMemoryView self, dlpack_tensor* tensor) except -1:
    """Fill the tensor of a view. It refers to the extents and strides of the view."""
    check_memory(self)
    tensor.dtype = element_or_raise(self)
    if not self.native.has_strides():
        set_dense_strides(self.native, c_order(self.native.ndim()))
    tensor.data = NULL if self.native.is_empty() else <void*>self.fields.pointer
    tensor.location.type, tensor.location.id = self.device_kind, self.ordinal
    tensor.ndim = self.native.ndim()
    tensor.shape = self.native.extents()
    tensor.strides = self.native.strides() if tensor.ndim else NULL
    tensor.byte_offset = 0


cdef uint64_t flags_of(StridedMemoryView self) noexcept:
    cdef uint64_t flags = 0
    if self.flags & VIEW_IS_READONLY:
        flags |= read_only
    if self.flags & VIEW_IS_COPY:
        flags |= is_copied
    if self.element.bits and self.element.bits * self.element.lanes < 8:
        flags |= is_subbyte_padded
    return flags


cdef object export_view(StridedMemoryView self, object stream, object max_version,
                        object dl_device, object copy):
    cdef bint is_versioned = accepts_versioned(max_version)
    cdef dlpack_tensor tensor
    cdef dlpack_device device
    device.type, device.id = self.device_kind, self.ordinal
    check_dlpack_request(stream, dl_device, copy, device)
    describe_tensor(self, &tensor)
    return make_dlpack_capsule(self, tensor, flags_of(self), is_versioned)
