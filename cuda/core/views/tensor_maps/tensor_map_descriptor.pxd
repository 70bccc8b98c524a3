# SPDX-License-Identifier: Apache-2.0
# TensorMapDescriptor: the 128 bytes that the driver encodes, with its alignment.

from cuda.bindings.cydriver cimport CUtensorMap


cdef extern from "views/tensor_maps/encode.hpp" namespace "halfwarp::views":
    cppclass tensor_map:
        CUtensorMap native
        tensor_map() noexcept

ctypedef tensor_map* tensor_map_pointer
ctypedef initialized[tensor_map_pointer] initialized_tensor_map


@cython.final
cdef class TensorMapDescriptor:
    cdef initialized_tensor_map native
    cdef StridedMemoryView view     # view of the tensor
    cdef object tensor              # exporting object
    cdef uintptr_t context          # context that was current at creation
    cdef int64_t size               # of the elements of the first tensor in bytes
    cdef str text                   # text of `repr`
    cdef object __weakref__
