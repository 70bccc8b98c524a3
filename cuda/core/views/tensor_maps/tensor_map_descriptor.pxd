# SPDX-License-Identifier: Apache-2.0
# Tensor maps: the 128 bytes that the driver encodes, where it wants them.

from cuda.bindings.cydriver cimport CUtensorMap


cdef extern from "views/tensor_maps/encode.hpp" namespace "halfwarp::views":
    cppclass tensor_map:
        CUtensorMap native
        tensor_map() noexcept


@cython.final
cdef class TensorMapDescriptor:
    cdef tensor_map* native
    cdef StridedMemoryView view     # what it is of
    cdef object tensor              # the object that was given
    cdef uintptr_t context          # that was current when it was made
    cdef str text                   # what `repr` says
    cdef object __weakref__
