// SPDX-License-Identifier: Apache-2.0
// An owned reference to a Python object.
#pragma once

#include <Python.h>

#include <utility>

namespace halfwarp::python {

// Result of a function with a status that set an exception.
inline constexpr int failed = -1;

// Owns one reference, or none. Changing ownership needs the GIL.
class reference {
 public:
  constexpr reference() noexcept = default;
  explicit constexpr reference(PyObject* stolen) noexcept : object_{stolen} {}
  reference(reference&& other) noexcept : object_{std::exchange(other.object_, nullptr)} {}
  reference& operator=(reference other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~reference() { Py_XDECREF(object_); }

  [[nodiscard]] static reference borrow(PyObject* object) noexcept {
    return reference{Py_XNewRef(object)};
  }

  [[nodiscard]] PyObject* get() const noexcept { return object_; }
  [[nodiscard]] PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// A buffer-protocol export of an object, released at the end of the scope.
class exported_buffer {
 public:
  explicit exported_buffer(PyObject* exporter, int flags = PyBUF_SIMPLE) noexcept
      : is_held_{PyObject_GetBuffer(exporter, &view_, flags) == 0} {}
  exported_buffer(const exported_buffer&) = delete;  // each export is released once
  exported_buffer& operator=(const exported_buffer&) = delete;
  ~exported_buffer() {
    if (is_held_) PyBuffer_Release(&view_);
  }

  // False if the exporter refused, with an exception set.
  [[nodiscard]] explicit operator bool() const noexcept { return is_held_; }
  [[nodiscard]] const Py_buffer& operator*() const noexcept { return view_; }
  [[nodiscard]] const Py_buffer* operator->() const noexcept { return &view_; }

 private:
  Py_buffer view_;
  bool is_held_;
};

}  // namespace halfwarp::python
