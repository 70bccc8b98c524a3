// SPDX-License-Identifier: Apache-2.0
// The C value inside of an object of `cuda.bindings` that Cython knows by its class:
// `cdef extern from "utility.hpp": CUstream get_cuda_native_handle(pyCUstream)`.
#pragma once

template <class Object>
auto get_cuda_native_handle(const Object* of) {
  return *of->_pvt_ptr;
}
