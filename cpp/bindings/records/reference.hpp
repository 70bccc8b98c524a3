// SPDX-License-Identifier: Apache-2.0
// Owned reference to a Python object, released at the end of the scope.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

namespace halfwarp::bindings {

// Result of a function with a status that set an exception.
inline constexpr int failed = -1;

// Null if creating the object failed; an error is then set. Callees borrow the object; `release`
// transfers the reference to a callee that steals it.
class reference {
 public:
  explicit reference(PyObject* object) : object_{object} {}
  reference(const reference&) = delete;  // one scope, one reference
  ~reference() { Py_XDECREF(object_); }
  operator PyObject*() const { return object_; }
  PyObject* get() const { return object_; }
  [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  PyObject* object_;
};

}  // namespace halfwarp::bindings
