// SPDX-License-Identifier: Apache-2.0
// Python's calling rules for functions that are described by a record.
#include "bindings/calls/engine.hpp"

#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

// The interned names of a function's parameters, made at its first call with keywords.
PyObject* names_of(const library& lib, const function& f) {
  PyObject** cached = &lib.state->keywords[&f - lib.functions.data()];
  if (PyObject* made = published(cached)) return made;
  PyObject* names = PyTuple_New(f.positional);
  if (!names) return nullptr;
  const char* name = f.names;
  for (int i = 0; i < f.positional; ++i, name += std::strlen(name) + 1) {
    PyObject* text = PyUnicode_InternFromString(name);
    if (!text) {
      Py_DECREF(names);
      return nullptr;
    }
    PyTuple_SET_ITEM(names, i, text);
  }
  return publish(cached, names);
}

// Position of a keyword, -1 when the function has no such parameter, -2 on error.
int position_of(PyObject* names, PyObject* keyword) {
  int n = int(PyTuple_GET_SIZE(names));
  for (int i = 0; i < n; ++i)
    if (PyTuple_GET_ITEM(names, i) == keyword) return i;
  for (int i = 0; i < n; ++i) {
    int order = PyUnicode_Compare(PyTuple_GET_ITEM(names, i), keyword);
    if (order == 0) return i;
    if (order == -1 && PyErr_Occurred()) return -2;
  }
  return -1;
}

bool bind_keywords(const library& lib, const function& f, PyObject* const* values,
                   PyObject* keywords, PyObject** bound) {
  PyObject* names = names_of(lib, f);
  if (!names) return false;
  for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(keywords); ++j) {
    PyObject* keyword = PyTuple_GET_ITEM(keywords, j);
    int i = position_of(names, keyword);
    if (i == -2) return false;
    if (i < 0) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", f.name.c_str(),
                   keyword);
      return false;
    }
    if (bound[i]) {
      PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", f.name.c_str(),
                   keyword);
      return false;
    }
    bound[i] = values[j];
  }
  return true;
}

}  // namespace

bool bind_arguments(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                    PyObject* keywords, PyObject** bound) {
  if (n > f.positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes %d argument%s but %zd %s given", f.name.c_str(),
                 int(f.positional), f.positional == 1 ? "" : "s", n, n == 1 ? "was" : "were");
    return false;
  }
  for (int i = 0; i < f.positional; ++i) bound[i] = i < n ? args[i] : nullptr;
  if (keywords && !bind_keywords(lib, f, args + n, keywords, bound)) return false;
  for (int i = 0; i < f.required; ++i) {
    if (bound[i]) continue;
    PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s' (position %d)",
                 f.name.c_str(), parameter_name(f, i), i + 1);
    return false;
  }
  return true;
}

}  // namespace halfwarp::bindings
