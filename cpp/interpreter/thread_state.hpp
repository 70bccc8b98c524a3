// SPDX-License-Identifier: Apache-2.0
// What the interpreter knows of a thread that it did not start.
#pragma once

#include <Python.h>

namespace halfwarp::interpreter {

// To be called before PyGILState_Ensure(). Without the interpreter lock each state of a thread has
// heaps of its own, and to end one takes milliseconds: so a thread of the driver's, which calls
// back again and again, keeps the state of its first call.
inline void keep_thread_state() noexcept {
#ifdef Py_GIL_DISABLED
  if (PyGILState_GetThisThreadState() != nullptr) return;
  PyGILState_Ensure();
  PyEval_SaveThread();
#endif
}

}  // namespace halfwarp::interpreter
