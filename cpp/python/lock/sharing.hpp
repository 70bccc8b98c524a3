// SPDX-License-Identifier: Apache-2.0
// Handles in Python objects that several threads use, guarded by the object's lock. With the GIL
// the lock is empty, while `cython.critical_section` would still count a reference.
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
  object_lock(const object_lock&) = delete;  // one lock per scope
  object_lock& operator=(const object_lock&) = delete;
};

// Returns a handle that stays valid if another thread closes the object.
template <class Handle>
[[nodiscard]] Handle share(PyObject* owner, const Handle& held) noexcept {
  const object_lock lock{owner};
  return held;
}

// Detaches the handle; its destructor runs after the object lock is released.
template <class Handle>
void release(PyObject* owner, Handle& held) noexcept {
  Handle last;
  const object_lock lock{owner};
  last.swap(held);
}

}  // namespace halfwarp::python
