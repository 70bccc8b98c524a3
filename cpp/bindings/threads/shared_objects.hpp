// SPDX-License-Identifier: Apache-2.0
// What several threads use at once: the lock of the engine, and objects. With the interpreter lock
// the latter cost nothing.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace halfwarp::bindings {

// With the interpreter lock nothing else would be needed if making a type let no other thread run;
// but PyType_Ready and friends may. Waiting lets go of the interpreter.
class engine_lock {
 public:
  engine_lock();
  engine_lock(const engine_lock&) = delete;  // one scope, one lock
  ~engine_lock();

  // Makes the lock itself: once, before any use. False with MemoryError set.
  static bool prepare();

  // In the child of a fork: a thread that held the lock is not there.
  static void reset_after_fork();
};

// One thread at a time has the lock of an object. It is let go while the thread waits for another
// one, as the interpreter lock is.
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

// Puts an object where there is none yet, and says which one is there (borrowed): of several
// threads the first wins, and the objects of the others go.
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

// What a dictionary has under a key: a new reference, nullptr when it has nothing or with an error.
inline PyObject* item_of(PyObject* dictionary, PyObject* key) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* item;
  PyDict_GetItemRef(dictionary, key, &item);
  return item;
#else
  return Py_XNewRef(PyDict_GetItemWithError(dictionary, key));
#endif
}

// The same, and the dictionary has it no more.
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

// Stores an object unless there is one, and says which one is there: a new reference, nullptr with
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

// An element of a list or tuple: a new reference, nullptr without an error where it ends before.
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
