// SPDX-License-Identifier: Apache-2.0
// A reference that does not retain its object.
#pragma once

#include <Python.h>

#include <utility>

namespace halfwarp::python {

// With the GIL this is the address, which the object's __dealloc__ clears. In a free-threaded build
// another thread may be releasing the last reference, so a Python weak reference is used, which
// costs an object that the garbage collector visits.
class weak_reference {
 public:
  weak_reference() noexcept = default;
  weak_reference(const weak_reference&) = delete;
  weak_reference& operator=(const weak_reference&) = delete;

  // Returns a new reference, or null if the object was destroyed. Sets no exception.
  [[nodiscard]] PyObject* get() const noexcept {
#ifdef Py_GIL_DISABLED
    PyObject* result = nullptr;
    if (object_ != nullptr) static_cast<void>(PyWeakref_GetRef(object_, &result));
    return result;
#else
    // Destruction of the object's fields may run Python code before its __dealloc__.
    return object_ != nullptr && Py_REFCNT(object_) > 0 ? Py_NewRef(object_) : nullptr;
#endif
  }

  // 0, or -1 with MemoryError set.
  int set(PyObject* object) noexcept {
#ifdef Py_GIL_DISABLED
    PyObject* const created = PyWeakref_NewRef(object, nullptr);
    if (created == nullptr) return failed;
    Py_XDECREF(std::exchange(object_, created));
#else
    object_ = object;
#endif
    return 0;
  }

  // Call in the object's __dealloc__.
  void clear(PyObject* object) noexcept {
    if (object_ == object) object_ = nullptr;
  }

#ifdef Py_GIL_DISABLED
  ~weak_reference() { Py_XDECREF(object_); }
#endif

 private:
  PyObject* object_ = nullptr;
};

}  // namespace halfwarp::python
