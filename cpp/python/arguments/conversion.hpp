// SPDX-License-Identifier: Apache-2.0
// How objects of one Python type become bytes, found once per type and remembered.
#pragma once

#include <Python.h>

#include <cstdint>

namespace halfwarp::python {

// One packing function each, see pack.cpp.
enum class form : std::uint8_t {
  unsupported,
  boolean,
  integer,
  real,
  complex,
  none,
  buffer,
  view,
  stored_value,    // `size` bytes at `offset` in the object
  pointed_value,   // `size` bytes where the pointer at `offset` in the object leads
  exported_bytes,  // what the buffer protocol shows
  numpy_array,     // by value when it has no dimension
  torch_tensor,
  cupy_array,
  array_interface,  // __cuda_array_interface__
  dlpack,
  own_protocol,  // __cuda_kernel_arg__
};

enum class integer_kind : std::uint8_t { none, signed_integer, unsigned_integer };

struct conversion {
  form how = form::unsupported;
  std::uint8_t size = 0;
  std::uint8_t offset = 0;
  integer_kind integer = integer_kind::none;
};

// The conversion for the type of `value`. 0, or -1 with an exception set (never for a type that is
// merely unknown: that is form::unsupported).
int find_conversion(PyObject* value, conversion& found) noexcept;

// Parts of find_conversion, each for one family of types: 1 when it knows the type, 0, or -1.
int classify_numpy(PyObject* value, conversion& found) noexcept;
int classify_ctypes(PyObject* value, conversion& found) noexcept;
int classify_bindings(PyObject* value, conversion& found) noexcept;
int classify_array(PyObject* value, conversion& found) noexcept;

// Whether the type is that class or derives from it; false for a null class.
[[nodiscard]] bool derives_from(PyTypeObject* type, PyObject* base) noexcept;

}  // namespace halfwarp::python
