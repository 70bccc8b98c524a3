// SPDX-License-Identifier: Apache-2.0
// Creates result tuples that begin with a code, and results without a code.
#include "bindings/conventions/results.hpp"

#include <cerrno>
#include <cstring>

#include "bindings/converters/face_kinds.hpp"
#include "bindings/exceptions/exceptions.hpp"
#include "bindings/objects/enum_type.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

PyObject* tuple_of(PyObject* first, int count) {
  PyObject* tuple = PyTuple_New(count + 1);
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
  const reference member{enum_member(lib, lib.result_enum, code)};
  PyObject* tuple = member ? tuple_of(member, outputs) : nullptr;
  for (int i = 1; tuple && i <= outputs; ++i) PyTuple_SET_ITEM(tuple, i, Py_NewRef(Py_None));
  return tuple;
}

namespace {

bool negative_is_error(const library& lib) {
  return lib.raises->details && lib.raises->details->negative_is_error;
}

// Returns the status of a negative result: its absolute value, or `errno` for -1.
std::int64_t status_of(std::int64_t number) { return number == -1 && errno ? errno : -number; }

// Converts the return value of a function without a result code; nullptr with an error set. NULL
// becomes an empty str.
PyObject* returned(const function& f, word result) {
  if (f.f & returns_number) return PyLong_FromLongLong(std::int64_t(result));
  auto* text = reinterpret_cast<const char*>(result);
  return text_from(text ? text : "", text ? std::strlen(text) : 0);
}

}  // namespace

PyObject* result_or_raise(frame& c, word result) {
  PyObject* values[max_parameters + 1];
  int count = 0;
  if (returns_code(c.f)) {
    int code = int(result);
    auto after = c.lib.handwritten_of(c.f).after;
    if (after && !after(c, code)) return nullptr;
    if (code) return raise_status(c.lib, c.f.name, code, result);
  } else {
    if (PyErr_Occurred()) return nullptr;  // the library lacks the function
    if (c.f.f & returns_number && std::int64_t(result) < 0 && negative_is_error(c.lib))
      return raise_status(c.lib, c.f.name, status_of(std::int64_t(result)), 0);
    if (!(c.f.f & returns_nothing) && !(values[count++] = returned(c.f, result))) return nullptr;
  }
  int outputs = c.f.n ? make_outputs(c, values + count) : 0;
  if (outputs < 0) {
    if (count) Py_DECREF(values[0]);
    return nullptr;
  }
  return unpacked(values, count + outputs);
}

}  // namespace halfwarp::bindings
