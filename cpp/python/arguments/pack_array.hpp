// SPDX-License-Identifier: Apache-2.0
// Packs arrays of other libraries as the address of their first element.
#pragma once

#include "python/arguments/target.hpp"

namespace halfwarp::python {

// Packs an address if the parameter accepts one. Returns 0, or -1 with an exception set.
int pack_address(PyObject* value, std::uint64_t address, const target& to) noexcept;

// Pack the address of the data without synchronizing any stream. Raise TypeError for an array in
// host memory.
int pack_numpy_array(PyObject* value, const target& to) noexcept;
int pack_torch_tensor(PyObject* value, const target& to) noexcept;
int pack_cupy_array(PyObject* value, const target& to) noexcept;
int pack_array_interface(PyObject* value, const target& to) noexcept;
int pack_dlpack(PyObject* value, const target& to) noexcept;

}  // namespace halfwarp::python
