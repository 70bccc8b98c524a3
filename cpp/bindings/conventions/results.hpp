// SPDX-License-Identifier: Apache-2.0
// Results of calls: tuples that begin with a code, or the outputs alone.
#pragma once

#include "bindings/converters/frame.hpp"
#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Returns the success member of a library's result enumeration (borrowed).
PyObject* make_success(const library& lib);
inline PyObject* success(const library& lib) {
  PyObject* member = __atomic_load_n(&lib.state->success, __ATOMIC_ACQUIRE);
  return member ? member : make_success(lib);
}

PyObject* make_success_tuple(const library& lib);
// Returns (SUCCESS,), one tuple for all calls.
inline PyObject* success_tuple(const library& lib) {
  PyObject* tuple = __atomic_load_n(&lib.state->success_tuple, __ATOMIC_ACQUIRE);
  return tuple ? Py_NewRef(tuple) : make_success_tuple(lib);
}

PyObject* new_pair(const library& lib, PyObject* value, bool recycles);

// Returns (SUCCESS, value); steals `value`. `recycles` states that the value cannot be part of a
// reference cycle: the previous tuple is then reused if no other reference exists, as in `zip`.
inline PyObject* success_pair(const library& lib, PyObject* value, bool recycles) {
  if (!value) return nullptr;
#ifndef Py_GIL_DISABLED
  PyObject* spare = lib.state->spare;
  if (recycles && spare && Py_REFCNT(spare) == 1) [[likely]] {
    PyObject* old = PyTuple_GET_ITEM(spare, 1);
    PyTuple_SET_ITEM(spare, 1, value);
#if PY_VERSION_HEX >= 0x030E0000
    reinterpret_cast<PyTupleObject*>(spare)->ob_hash = -1;  // a tuple caches its hash
#endif
    Py_INCREF(spare);
    Py_DECREF(old);  // last: may run user code that calls this function
    return spare;
  }
#endif
  return new_pair(lib, value, recycles);
}

// Returns (SUCCESS, ...) with `n` values; steals them.
PyObject* success_many(const library& lib, PyObject** values, int n);

// Returns (code, None, ...), the result of a failed call.
PyObject* failure_tuple(const library& lib, int code, int outputs);

constexpr bool returns_code(const function& f) {
  return !(f.f & (returns_text | returns_number | returns_nothing));
}

// Returns None, the value, or a tuple of `n` values; steals them.
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

// Returns the outputs of a call, or raises the exception of its status.
PyObject* result_or_raise(frame& c, word result);

}  // namespace halfwarp::bindings
