// SPDX-License-Identifier: Apache-2.0
// Operations on Python objects that may run code of Python; none, or -1, with an exception set when
// they fail.
#pragma once

#include "python/lock/interpreter_lock.hpp"
#include "python/reference.hpp"

namespace halfwarp::python {

[[nodiscard]] inline reference get_attribute(PyObject* object, PyObject* name) noexcept {
  return reference{run_python([=] { return PyObject_GetAttr(object, name); })};
}

[[nodiscard]] inline reference get_item(PyObject* object, PyObject* key) noexcept {
  return reference{run_python([=] { return PyObject_GetItem(object, key); })};
}

[[nodiscard]] inline reference get_item(PyObject* object, Py_ssize_t place) noexcept {
  return reference{run_python([=] { return PySequence_GetItem(object, place); })};
}

// `object.__index__()`.
[[nodiscard]] inline reference as_index(PyObject* object) noexcept {
  return reference{run_python([=] { return PyNumber_Index(object); })};
}

// A tuple of the items: a copy of a list, so that no other thread changes it meanwhile.
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
  const reference none{PyTuple_New(0)};
  if (!none) return {};
  return reference{run_python([&] { return PyObject_Call(callable, none.get(), keywords); })};
}

[[nodiscard]] inline reference call_method(PyObject* object, PyObject* name) noexcept {
  return reference{run_python([=] { return PyObject_CallMethodNoArgs(object, name); })};
}

}  // namespace halfwarp::python
