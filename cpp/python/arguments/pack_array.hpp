// SPDX-License-Identifier: Apache-2.0
// Packs arrays of other libraries as the address of their first element.
#pragma once

#include "python/arguments/target.hpp"

namespace halfwarp::python {

// Packs an address if the parameter accepts one. Returns 0, or -1 with an exception set.
int pack_address(PyObject* value, std::uint64_t address, const target& to) noexcept;

// Sets the address of an array, checked by the importer of buffers and views. Returns 0, 1 for an
// array in host memory, or -1 with an exception set. Runs code of the array's class.
using import_function = int (*)(PyObject* producer, std::uint64_t* address);

// Set once, when the extension is imported.
inline import_function import_tensor = nullptr;     // DLPack
inline import_function import_interface = nullptr;  // __cuda_array_interface__

// Pack the address of the data without synchronizing any stream. Raise TypeError for an array in
// host memory.
int pack_numpy_array(PyObject* value, const target& to) noexcept;
int pack_torch_tensor(PyObject* value, const target& to) noexcept;
int pack_cupy_array(PyObject* value, const target& to) noexcept;
int pack_array_interface(PyObject* value, const target& to) noexcept;
int pack_dlpack(PyObject* value, const target& to) noexcept;

}  // namespace halfwarp::python
