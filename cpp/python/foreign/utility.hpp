// SPDX-License-Identifier: Apache-2.0
// Returns the C value in a `cuda.bindings` object whose class Cython knows:
// `cdef extern from "utility.hpp": CUstream get_cuda_native_handle(pyCUstream)`.
#pragma once

template <class Object>
auto get_cuda_native_handle(const Object* object) {
  return *object->_pvt_ptr;
}
