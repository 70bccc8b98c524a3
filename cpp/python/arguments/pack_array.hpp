// SPDX-License-Identifier: Apache-2.0
// Arrays of other libraries, by the address of their first element.
#pragma once

#include "python/arguments/target.hpp"

namespace halfwarp::python {

// An address where the parameter may hold one. 0, or -1 with an exception set.
int pack_address(PyObject* value, std::uint64_t address, const target& to) noexcept;

// Each reads the address of the data, without waiting for any stream: TypeError for an array in
// host memory.
int pack_numpy_array(PyObject* value, const target& to) noexcept;
int pack_torch_tensor(PyObject* value, const target& to) noexcept;
int pack_cupy_array(PyObject* value, const target& to) noexcept;
int pack_array_interface(PyObject* value, const target& to) noexcept;
int pack_dlpack(PyObject* value, const target& to) noexcept;

}  // namespace halfwarp::python
