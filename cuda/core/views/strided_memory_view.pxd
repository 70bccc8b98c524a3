# SPDX-License-Identifier: Apache-2.0
# StridedMemoryView: where an array lies, and what keeps it there.

from libc.stdint cimport int32_t, uint8_t, uintptr_t

from cuda.core._core cimport (
    Buffer, Stream, buffer_fields, data_type, device_type, managed_tensor, versioned_tensor,
    view_fields,
)

# The kinds of devices that are known here, as __dlpack_device__ numbers them.
cdef enum:
    DEVICE_CPU = 1
    DEVICE_CUDA = 2
    DEVICE_CUDA_HOST = 3
    DEVICE_CUDA_MANAGED = 13

cdef enum view_flags:
    VIEW_IS_SET = 1        # it has a layout
    VIEW_IS_READONLY = 2
    VIEW_IS_COPY = 4       # the producer made a copy for the view

cdef class StridedMemoryView:
    cdef view_fields fields          # what C++ reads
    cdef unsigned flags
    cdef device_type where           # the kind of memory, as DLPack numbers it
    cdef int32_t ordinal             # of the device that goes with it
    cdef data_type element           # bits 0: said by `type_object` or `type_text` alone
    cdef strided_layout native
    cdef managed_tensor* plain       # what this view consumed, one of the two at most
    cdef versioned_tensor* versioned
    cdef object source               # the object that was given
    cdef object kept                 # what else keeps the memory, or None
    cdef object type_object          # numpy.dtype, once it was asked for, or None
    cdef object type_text            # the typestr of an array interface, or None
    cdef _StridedLayout layout       # once it was asked for, or None
    cdef object __weakref__

# A new view of class `cls` that shows nothing yet.
cdef StridedMemoryView new_view(object cls)
