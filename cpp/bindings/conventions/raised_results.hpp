// SPDX-License-Identifier: Apache-2.0
// What a call of the convention "exceptions" returns: its outputs alone.
#pragma once

#include "bindings/converters/frame.hpp"

namespace halfwarp::bindings {

constexpr bool returns_code(const function& f) {
  return !(f.f & (returns_text | returns_number | returns_nothing));
}

// None, the value, or a tuple of `n` values; steals them.
inline PyObject* unpacked(PyObject** values, int n) {
  if (n == 0) Py_RETURN_NONE;
  if (n == 1) return values[0];
  PyObject* tuple = PyTuple_New(n);
  for (int i = 0; i < n; ++i) {
    if (tuple) {
      PyTuple_SET_ITEM(tuple, i, values[i]);
    } else {
      Py_DECREF(values[i]);
    }
  }
  return tuple;
}

// The Python result of a call from what the C function returned: the outputs, or an exception.
PyObject* result_or_raise(frame& c, word result);

}  // namespace halfwarp::bindings
