// SPDX-License-Identifier: Apache-2.0
// Handles in Python objects that several threads use: the lock of the object guards them. With the
// interpreter lock that is nothing, and `cython.critical_section` would still count a reference.
#pragma once

#include <Python.h>

namespace halfwarp::python {

class object_lock {
 public:
#ifdef Py_GIL_DISABLED
  explicit object_lock(PyObject* object) noexcept { PyCriticalSection_Begin(&section_, object); }
  ~object_lock() { PyCriticalSection_End(&section_); }

 private:
  PyCriticalSection section_;
#else
  explicit object_lock(PyObject*) noexcept {}
#endif

 public:
  object_lock(const object_lock&) = delete;  // one scope, one lock
  object_lock& operator=(const object_lock&) = delete;
};

// A share of the handle, for what goes on while another thread may close the object.
template <class Handle>
[[nodiscard]] Handle share(PyObject* owner, const Handle& held) noexcept {
  const object_lock lock{owner};
  return held;
}

// Leaves the object without the handle. What goes with it goes after the lock was given back.
template <class Handle>
void release(PyObject* owner, Handle& held) noexcept {
  Handle last;
  const object_lock lock{owner};
  last.swap(held);
}

}  // namespace halfwarp::python
