// SPDX-License-Identifier: Apache-2.0
// Reads NumPy arrays without NumPy's headers.
#pragma once

#include <Python.h>

#include <cstdint>

#include "views/layout/layout.hpp"

namespace halfwarp::views {

// The first fields of an array object, part of NumPy's binary interface since version 1.
struct ndarray {
  PyObject base_object;
  char* data;
  int ndim;
  Py_ssize_t* extents;
  Py_ssize_t* strides;  // in bytes
  PyObject* base;
  PyObject* dtype;
  int flags;

  static constexpr int writeable = 0x0400;
};

[[nodiscard]] inline const ndarray& as_ndarray(PyObject* object) noexcept {
  return *reinterpret_cast<const ndarray*>(object);
}

// Computes the layout of an array, with strides unless it has no axes. Returns false if a stride is
// not a multiple of the element size, or if there are too many axes.
[[nodiscard]] bool layout_of(const ndarray& array, int itemsize, layout& result);

}  // namespace halfwarp::views
