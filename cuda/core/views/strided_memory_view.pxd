# SPDX-License-Identifier: Apache-2.0
# StridedMemoryView: the memory, layout and element type of an array.

from libc.stdint cimport int32_t, uint8_t, uintptr_t

from cuda.core._core cimport (
    Buffer, Stream, buffer_fields, data_type, device_type, managed_tensor, versioned_tensor,
    view_fields,
)

# Device types of DLPack that views support.
cdef enum:
    DEVICE_CPU = 1
    DEVICE_CUDA = 2
    DEVICE_CUDA_HOST = 3
    DEVICE_CUDA_MANAGED = 13

cdef enum view_flags:
    VIEW_IS_SET = 1        # the view has a layout
    VIEW_IS_READONLY = 2
    VIEW_IS_COPY = 4       # the memory is a copy that the producer made for the view

cdef class StridedMemoryView:
    cdef view_fields fields          # fields that C++ reads
    cdef unsigned flags
    cdef device_type device_kind     # DLPack device type
    cdef int32_t ordinal             # DLPack device id
    cdef data_type element           # bits 0: only `type_object` or `type_text` is set
    cdef strided_layout native
    cdef managed_tensor* plain       # consumed tensor; at most one of the two is set
    cdef versioned_tensor* versioned
    cdef object source               # the exporting object
    cdef object memory_owner         # another object that keeps the memory alive, or None
    cdef object type_object          # numpy.dtype after the first access, or None
    cdef object type_text            # the typestr of an array interface, or None
    cdef _StridedLayout layout       # created at the first access, or None
    cdef object __weakref__

# Creates an empty view of class `cls`.
cdef StridedMemoryView new_view(object cls)
