// SPDX-License-Identifier: Apache-2.0
// Operations on Python objects that may run Python code. They return null or -1, with an exception
// set, on failure.
#pragma once

#include "python/lock/gil.hpp"
#include "python/reference.hpp"

namespace halfwarp::python {

[[nodiscard]] inline reference get_attribute(PyObject* object, PyObject* name) noexcept {
  return reference{run_python([=] { return PyObject_GetAttr(object, name); })};
}

[[nodiscard]] inline reference get_item(PyObject* object, PyObject* key) noexcept {
  return reference{run_python([=] { return PyObject_GetItem(object, key); })};
}

[[nodiscard]] inline reference get_item(PyObject* object, Py_ssize_t index) noexcept {
  return reference{run_python([=] { return PySequence_GetItem(object, index); })};
}

// Calls `object.__index__()`.
[[nodiscard]] inline reference as_index(PyObject* object) noexcept {
  return reference{run_python([=] { return PyNumber_Index(object); })};
}

// Calls `object.__index__()`. Returns null without an exception if the object is not an integer: a
// NumPy array has the method, but it raises TypeError unless the array has one element.
[[nodiscard]] inline reference integer_of(PyObject* object) noexcept {
  if (!PyIndex_Check(object)) return {};
  reference integer = as_index(object);
  if (!integer && PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_Clear();
  return integer;
}

// Returns a tuple of the items, a snapshot of a list that other threads may change.
[[nodiscard]] inline reference as_tuple(PyObject* object) noexcept {
  return reference{run_python([=] { return PySequence_Tuple(object); })};
}

[[nodiscard]] inline int as_truth(PyObject* object) noexcept {
  return run_python([=] { return PyObject_IsTrue(object); });
}

[[nodiscard]] inline reference call(PyObject* callable) noexcept {
  return reference{run_python([=] { return PyObject_CallNoArgs(callable); })};
}

[[nodiscard]] inline reference call_with_keywords(PyObject* callable, PyObject* keywords) noexcept {
  const reference no_arguments{PyTuple_New(0)};
  if (!no_arguments) return {};
  return reference{
      run_python([&] { return PyObject_Call(callable, no_arguments.get(), keywords); })};
}

[[nodiscard]] inline reference call_method(PyObject* object, PyObject* name) noexcept {
  return reference{run_python([=] { return PyObject_CallMethodNoArgs(object, name); })};
}

}  // namespace halfwarp::python
