// SPDX-License-Identifier: Apache-2.0
// The native state that a constructor stores in a Python object once.
#pragma once

#include <Python.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace halfwarp::python {

// Thrown for an object whose constructor did not run or complete; becomes RuntimeError, also in
// extensions without the library of cuda.core.
class uninitialized_object : public std::runtime_error {
 public:
  explicit uninitialized_object(PyObject* object) : std::runtime_error{message(object)} {}

 private:
  static std::string message(PyObject* object) {
    PyTypeObject* const type = Py_TYPE(object);
    return short_name(type->tp_name) + " was not initialized: " +
           (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)
                ? "its __init__ must first call super().__init__()"
                : "its constructor did not run, or failed");
  }

  static std::string short_name(const std::string& full_name) {
    return full_name.substr(full_name.rfind('.') + 1);
  }
};

// A field of a Python object that is set once, after everything that can fail: a handle, a pointer
// or a number that is never 0. `cls.__new__(cls)`, a subclass that does not call
// `super().__init__()` and a constructor that fails leave it empty, so the value is only reached
// through a check.
template <class Value>
class initialized {
 public:
  constexpr initialized() noexcept = default;
  initialized(const initialized&) = delete;  // a field of one object
  initialized& operator=(const initialized&) = delete;

  // Throws uninitialized_object if the field of `object` was not set.
  void check(PyObject* object) const {
    if (!is_set()) [[unlikely]]
      throw uninitialized_object{object};
  }

  // Returns the value, or throws uninitialized_object.
  [[nodiscard]] Value& get(PyObject* object) {
    check(object);
    return value_;
  }

  [[nodiscard]] bool is_set() const noexcept { return static_cast<bool>(value_); }

  // Returns the value, or null or 0: for comparisons, and for functions that must not raise.
  [[nodiscard]] const Value& value_or_null() const noexcept { return value_; }

  void set(Value value) noexcept { value_ = std::move(value); }

 private:
  Value value_{};
};

}  // namespace halfwarp::python
