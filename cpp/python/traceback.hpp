// SPDX-License-Identifier: Apache-2.0
// The frames of functions inside the package in a traceback. The build adds the calls to Cython's
// output (build_support/tracebacks.py).
#pragma once

#include <Python.h>

#include <cstdlib>
#include <string_view>

namespace halfwarp::python {

// Reads the environment once.
[[nodiscard]] inline bool has_inner_frames() noexcept {
  static const bool is_full = [] {
    const char* const value = std::getenv("HALFWARP_FULL_TRACEBACK");
    return value != nullptr && std::string_view{value} == "1";
  }();
  return is_full;
}

// Returns a new reference to the first entry with a frame of another module, or null.
[[nodiscard]] inline PyObject* without_frames_of(PyObject* globals, PyObject* traceback) noexcept {
  auto* entry = reinterpret_cast<PyTracebackObject*>(traceback);
  while (entry != nullptr) {
    PyObject* const owner = PyFrame_GetGlobals(entry->tb_frame);
    Py_DECREF(owner);  // the frame has a reference
    if (owner != globals) break;
    entry = entry->tb_next;
  }
  return Py_XNewRef(reinterpret_cast<PyObject*>(entry));
}

// Removes the newest frames of a module from the traceback of the raised exception.
inline void remove_inner_frames(PyObject* globals) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
  PyObject* const error = PyErr_GetRaisedException();
  if (error == nullptr) return;
  PyObject* const traceback = PyException_GetTraceback(error);
  if (traceback != nullptr) {
    PyObject* const remaining = without_frames_of(globals, traceback);
    PyException_SetTraceback(error, remaining != nullptr ? remaining : Py_None);
    Py_XDECREF(remaining);
    Py_DECREF(traceback);
  }
  PyErr_SetRaisedException(error);
#else
  PyObject *type = nullptr, *error = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &error, &traceback);
  PyObject* const remaining = without_frames_of(globals, traceback);
  Py_XDECREF(traceback);
  PyErr_Restore(type, error, remaining);
#endif
}

}  // namespace halfwarp::python
