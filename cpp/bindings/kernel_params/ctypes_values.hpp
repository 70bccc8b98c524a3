// SPDX-License-Identifier: Apache-2.0
// One kernel parameter from a Python value and a ctypes type.
#pragma once

#include "bindings/numbers/numbers.hpp"

namespace halfwarp::bindings {

// ctypes.c_void_p, once a kernel parameter has needed a type.
extern PyObject* pointer_ctype;

bool pack_slow(PyObject* value, PyObject* type, word& cell, void*& pointer);

// Converts `value` as `type` says into `cell`, or makes `pointer` point elsewhere: at the memory of
// the value itself. False with an error set. Most parameters are addresses.
inline bool pack_value(PyObject* value, PyObject* type, word& cell, void*& pointer) {
  if (type == __atomic_load_n(&pointer_ctype, __ATOMIC_RELAXED) && PyLong_Check(value) &&
      two_digit_value(value, cell)) [[likely]]
    return true;
  return pack_slow(value, type, cell, pointer);
}

}  // namespace halfwarp::bindings
