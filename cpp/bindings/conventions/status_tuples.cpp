// SPDX-License-Identifier: Apache-2.0
// The tuples that calls return.
#include "bindings/conventions/status_tuples.hpp"

#include "bindings/objects/enum_type.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

PyObject* tuple_of(PyObject* first, int others) {
  PyObject* tuple = PyTuple_New(others + 1);
  if (tuple) PyTuple_SET_ITEM(tuple, 0, Py_NewRef(first));
  return tuple;
}

}  // namespace

PyObject* make_success(const library& lib) {
  PyObject* member = enum_member(lib, lib.result_enum, 0);
  return member ? publish(&lib.state->success, member) : nullptr;
}

PyObject* make_success_tuple(const library& lib) {
  PyObject* code = success(lib);
  PyObject* tuple = code ? tuple_of(code, 0) : nullptr;
  return tuple ? Py_NewRef(publish(&lib.state->success_tuple, tuple)) : nullptr;
}

PyObject* new_pair(const library& lib, PyObject* value, [[maybe_unused]] bool recycles) {
  PyObject* code = success(lib);
  PyObject* tuple = code ? tuple_of(code, 1) : nullptr;
  if (!tuple) {
    Py_DECREF(value);
    return nullptr;
  }
  PyTuple_SET_ITEM(tuple, 1, value);
#ifndef Py_GIL_DISABLED
  if (recycles) Py_XSETREF(lib.state->spare, Py_NewRef(tuple));
#endif
  return tuple;
}

PyObject* success_many(const library& lib, PyObject** values, int n) {
  PyObject* code = success(lib);
  PyObject* tuple = code ? tuple_of(code, n) : nullptr;
  for (int i = 0; i < n; ++i) {
    if (tuple) {
      PyTuple_SET_ITEM(tuple, i + 1, values[i]);
    } else {
      Py_DECREF(values[i]);
    }
  }
  return tuple;
}

PyObject* failure_tuple(const library& lib, int code, int outputs) {
  PyObject* member = enum_member(lib, lib.result_enum, code);
  PyObject* tuple = member ? tuple_of(member, outputs) : nullptr;
  Py_XDECREF(member);
  for (int i = 1; tuple && i <= outputs; ++i) PyTuple_SET_ITEM(tuple, i, Py_NewRef(Py_None));
  return tuple;
}

}  // namespace halfwarp::bindings
