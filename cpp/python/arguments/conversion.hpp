// SPDX-License-Identifier: Apache-2.0
// How objects of one Python type become bytes, determined once per type and cached.
#pragma once

#include <Python.h>

#include <cstdint>

namespace halfwarp::python {

// Each form has one packing function, see pack.cpp.
enum class form : std::uint8_t {
  unsupported,
  boolean,
  integer,
  real,
  complex,
  none,
  buffer,
  view,
  stored_value,      // `size` bytes at `offset` in the object
  pointed_value,     // `size` bytes that the pointer at `offset` in the object refers to
  structured_value,  // the same with the size of the object itself, as in a numpy.void
  exported_bytes,    // bytes of the buffer protocol
  numpy_array,       // by value if it has no dimensions
  torch_tensor,
  cupy_array,
  array_interface,  // __cuda_array_interface__
  dlpack,
  own_protocol,  // __cuda_kernel_arg__
};

enum class integer_kind : std::uint8_t { none, signed_integer, unsigned_integer };

struct conversion {
  form kind = form::unsupported;
  std::uint8_t size = 0;
  std::uint8_t offset = 0;
  integer_kind integer = integer_kind::none;
};

// Finds the conversion for the type of `value`. Returns 0, or -1 with an exception set. An unknown
// type is no error but form::unsupported.
int find_conversion(PyObject* value, conversion& result) noexcept;

// Parts of find_conversion, one per family of types. Return 1 for a known type, else 0, or -1.
int classify_numpy(PyObject* value, conversion& result) noexcept;
int classify_ctypes(PyObject* value, conversion& result) noexcept;
int classify_bindings(PyObject* value, conversion& result) noexcept;
int classify_array(PyObject* value, conversion& result) noexcept;

// Returns whether the type is `base` or derives from it; false for a null `base`.
[[nodiscard]] bool derives_from(PyTypeObject* type, PyObject* base) noexcept;

}  // namespace halfwarp::python
