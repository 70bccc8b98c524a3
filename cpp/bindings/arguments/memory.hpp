// SPDX-License-Identifier: Apache-2.0
// Addresses and texts: integers, buffers, bytes.
#pragma once

#include "bindings/arguments/numbers.hpp"
#include "bindings/scratch.hpp"

namespace halfwarp::bindings {

bool address_slow(PyObject* object, scratch& memory, word& out);
// After `scratch::view` failed: clears what says that the object has no (contiguous, writable)
// buffer; false for any other error, which stays.
bool no_such_buffer();

bool text_slow(PyObject* object, scratch& memory, word& out);
bool raw_pointer_argument(PyObject* object, word& out);
// float[4] of one number or a sequence of up to four; what is missing is 0.
bool colour_argument(PyObject* object, scratch& memory, word& out);

inline bool address_argument(PyObject* object, scratch& memory, word& out) {
  Py_ssize_t value;
  if (PyLong_Check(object) && compact_value(object, value) && value >= 0) [[likely]] {
    out = word(value);
    return true;
  }
  if (PyLong_Check(object) && two_digit_value(object, out)) return true;
  return address_slow(object, memory, out);
}

inline bool text_argument(PyObject* object, scratch& memory, word& out) {
  if (PyBytes_Check(object)) [[likely]] {
    out = reinterpret_cast<word>(PyBytes_AS_STRING(object));
    return true;
  }
  return text_slow(object, memory, out);
}

// Memory that the call writes: bytes (in place, as existing code does it) or a writable buffer.
// `size` becomes its length.
bool text_output_argument(PyObject* object, scratch& memory, word& out, word& size);

}  // namespace halfwarp::bindings
