// SPDX-License-Identifier: Apache-2.0
// What the interpreter knows of a thread that it did not start.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>

#include "interpreter/exit_gate.hpp"

namespace halfwarp::interpreter {

#ifdef Py_GIL_DISABLED
inline constinit pthread_once_t once_for_ends = PTHREAD_ONCE_INIT;
inline constinit pthread_key_t ends = 0;  // its value: the state that ends with the thread
inline constinit bool has_ends = false;   // keys can be used up

// A state that outlived its thread would be taken for that of the next thread at the same address,
// and what that one's objects wait for would be asked of it. The interpreter's end ends them all.
inline void end_state(void* state) noexcept {
  const gate_pass pass{gate->enter()};
  if (!pass.is_open()) return;
  auto* own = static_cast<PyThreadState*>(state);
  PyEval_RestoreThread(own);
  PyThreadState_Clear(own);
  PyThreadState_DeleteCurrent();
}

inline void make_ends() noexcept { has_ends = pthread_key_create(&ends, end_state) == 0; }
#endif

// To be called before PyGILState_Ensure(). Without the interpreter lock each state of a thread has
// heaps of its own, and to end one takes milliseconds: so a thread of the driver's, which calls
// back again and again, keeps the state of its first call until it ends.
inline void keep_thread_state() noexcept {
#ifdef Py_GIL_DISABLED
  if (PyGILState_GetThisThreadState() != nullptr) return;
  PyGILState_Ensure();
  PyThreadState* own = PyEval_SaveThread();
  pthread_once(&once_for_ends, make_ends);
  if (has_ends) pthread_setspecific(ends, own);
#endif
}

}  // namespace halfwarp::interpreter
