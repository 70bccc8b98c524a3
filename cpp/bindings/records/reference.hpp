// SPDX-License-Identifier: Apache-2.0
// A reference to a Python object that is given back at the end of the scope.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

namespace halfwarp::bindings {

// Null where the object could not be made: an error is set. It lends the object to whom it is
// passed; who steals it gets it by `release`.
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
