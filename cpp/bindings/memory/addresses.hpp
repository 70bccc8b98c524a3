// SPDX-License-Identifier: Apache-2.0
// Addresses and texts: integers, buffers, bytes.
#pragma once

#include "bindings/memory/scratch.hpp"
#include "bindings/numbers/numbers.hpp"

namespace halfwarp::bindings {

bool address_slow(PyObject* object, scratch& memory, word& out);
// The same for what is kept after the call: `owner` becomes a view that keeps the memory exported
// (a new reference), nullptr when there is nothing to keep. An object is asked for its buffer once,
// since it may show other memory the next time.
bool kept_address(PyObject* object, scratch& memory, word& out, PyObject*& owner);
// A contiguous view of an object's buffer (a new reference); nullptr when it has none, without an
// error but for those of other kinds.
PyObject* exported_view(PyObject* object);
// After `scratch::view` failed: clears what says that the object has no (contiguous, writable)
// buffer; false for any other error, which stays.
bool no_such_buffer();

// An element of a list or tuple, as a new reference; nullptr with RuntimeError when converting the
// elements before it has run code that made the list shorter.
PyObject* list_item(PyObject* list, Py_ssize_t index);

bool text_slow(PyObject* object, scratch& memory, word& out);
bool raw_pointer_slow(PyObject* object, word& out);
// float[4] of one number or a sequence of up to four; what is missing is 0.
bool colour_argument(PyObject* object, scratch& memory, word& out);

inline bool address_argument(PyObject* object, scratch& memory, word& out) {
  if (PyLong_Check(object) && (digit_value(object, out) || two_digit_value(object, out))) [[likely]]
    return true;
  return address_slow(object, memory, out);
}

inline bool raw_pointer_argument(PyObject* object, word& out) {
  return (PyLong_Check(object) && digit_value(object, out)) || raw_pointer_slow(object, out);
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
