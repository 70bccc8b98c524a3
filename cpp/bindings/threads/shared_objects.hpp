// SPDX-License-Identifier: Apache-2.0
// Objects and locks shared by threads. With the GIL, the functions for objects have no cost.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace halfwarp::bindings {

// Lock of the engine. The GIL alone does not suffice: PyType_Ready and similar functions may
// release it. Waiting for the lock releases the GIL.
class engine_lock {
 public:
  engine_lock();
  engine_lock(const engine_lock&) = delete;  // one scope, one lock
  ~engine_lock();

  // Creates the lock; call once, before any use. Returns false with MemoryError set.
  static bool prepare();

  // Resets the lock in a forked child process if another thread of the parent held it.
  static void reset_after_fork();
};

// Per-object lock. Like the GIL, it is released while the thread waits for another lock.
class critical_section {
 public:
#ifdef Py_GIL_DISABLED
  explicit critical_section(PyObject* object) { PyCriticalSection_Begin(&section_, object); }
  ~critical_section() { PyCriticalSection_End(&section_); }

 private:
  PyCriticalSection section_;
#else
  explicit critical_section(PyObject*) {}
#endif

 public:
  critical_section(const critical_section&) = delete;  // one scope, one lock
};

// Stores an object in a slot that is null. Returns the object in the slot (borrowed): the first
// thread wins, and the objects of the others are destroyed.
inline PyObject* publish(PyObject** slot, PyObject* object) {
#ifdef Py_GIL_DISABLED
  PyObject* current = nullptr;
  if (__atomic_compare_exchange_n(slot, &current, object, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE))
    return object;
#else
  PyObject* current = *slot;
  if (!current) return *slot = object;
#endif
  Py_DECREF(object);
  return current;
}
inline PyObject* published(PyObject* const* slot) {
  return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
}

// Returns the value of a key: a new reference, nullptr if there is none or with an error set.
inline PyObject* item_of(PyObject* dictionary, PyObject* key) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* item;
  PyDict_GetItemRef(dictionary, key, &item);
  return item;
#else
  return Py_XNewRef(PyDict_GetItemWithError(dictionary, key));
#endif
}

// Removes a key and returns its value: a new reference, nullptr if there is none or with an error
// set.
inline PyObject* pop_item(PyObject* dictionary, PyObject* key) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* item;
  PyDict_Pop(dictionary, key, &item);
  return item;
#else
  PyObject* item = item_of(dictionary, key);
  if (item && PyDict_DelItem(dictionary, key) < 0) Py_CLEAR(item);
  return item;
#endif
}

// Stores a value unless the key exists, and returns the stored value: a new reference, nullptr with
// an error set.
inline PyObject* set_default(PyObject* dictionary, PyObject* key, PyObject* value) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* item;
  PyDict_SetDefaultRef(dictionary, key, value, &item);
  return item;
#else
  return Py_XNewRef(PyDict_SetDefault(dictionary, key, value));
#endif
}

// Returns an element of a list or tuple: a new reference, nullptr without an error if the index is
// out of range.
inline PyObject* list_element(PyObject* list, Py_ssize_t index) {
#ifdef Py_GIL_DISABLED
  if (PyList_Check(list)) {
    PyObject* item = PyList_GetItemRef(list, index);
    if (!item) PyErr_Clear();
    return item;
  }
#endif
  return index < PySequence_Fast_GET_SIZE(list) ? Py_NewRef(PySequence_Fast_GET_ITEM(list, index))
                                                : nullptr;
}

}  // namespace halfwarp::bindings
