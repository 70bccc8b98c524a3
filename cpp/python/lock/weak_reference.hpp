// SPDX-License-Identifier: Apache-2.0
// A reference that does not keep its object alive.
#pragma once

#include <Python.h>

#include <utility>

namespace halfwarp::python {

// With the interpreter lock it is the address, which the object's __dealloc__ takes back. Without
// it, another thread may be dropping the object's last reference: one of Python's then, which costs
// an object, and a visit of the collector.
class weak_reference {
 public:
  weak_reference() noexcept = default;
  weak_reference(const weak_reference&) = delete;
  weak_reference& operator=(const weak_reference&) = delete;

  // A new reference; null for none. No exception is set.
  [[nodiscard]] PyObject* get() const noexcept {
#ifdef Py_GIL_DISABLED
    PyObject* found = nullptr;
    if (object_ != nullptr) static_cast<void>(PyWeakref_GetRef(object_, &found));
    return found;
#else
    // What goes with the object may run code of Python before its __dealloc__.
    return object_ != nullptr && Py_REFCNT(object_) > 0 ? Py_NewRef(object_) : nullptr;
#endif
  }

  // 0, or -1 with MemoryError set.
  int set(PyObject* object) noexcept {
#ifdef Py_GIL_DISABLED
    PyObject* const made = PyWeakref_NewRef(object, nullptr);
    if (made == nullptr) return -1;
    Py_XDECREF(std::exchange(object_, made));
#else
    object_ = object;
#endif
    return 0;
  }

  // For the __dealloc__ of the object.
  void forget(PyObject* gone) noexcept {
    if (object_ == gone) object_ = nullptr;
  }

#ifdef Py_GIL_DISABLED
  ~weak_reference() { Py_XDECREF(object_); }
#endif

 private:
  PyObject* object_ = nullptr;
};

}  // namespace halfwarp::python
