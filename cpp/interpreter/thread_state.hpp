// SPDX-License-Identifier: Apache-2.0
// The thread states of threads that Python did not start.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>

#include "interpreter/exit_gate.hpp"

namespace halfwarp::interpreter {

#ifdef Py_GIL_DISABLED
inline constinit pthread_once_t state_key_once = PTHREAD_ONCE_INIT;
inline constinit pthread_key_t state_key = 0;  // its value is destroyed with the thread
inline constinit bool has_state_key = false;   // the number of keys is limited

// If a PyThreadState outlived its thread, CPython would mistake a later thread at the same address
// for its owner and never merge its queued reference counts. Python's exit destroys all states.
inline void destroy_state(void* value) noexcept {
  const gate_pass pass{gate->enter()};
  if (!pass.is_open()) return;
  auto* thread_state = static_cast<PyThreadState*>(value);
  PyEval_RestoreThread(thread_state);
  PyThreadState_Clear(thread_state);
  PyThreadState_DeleteCurrent();
}

inline void create_state_key() noexcept {
  has_state_key = pthread_key_create(&state_key, destroy_state) == 0;
}
#endif

// Call before PyGILState_Ensure(). On the free-threaded build, each thread state has its own heaps,
// and its destruction takes milliseconds. A driver thread with many callbacks therefore retains the
// state of its first callback until the thread ends.
inline void retain_thread_state() noexcept {
#ifdef Py_GIL_DISABLED
  if (PyGILState_GetThisThreadState() != nullptr) return;
  PyGILState_Ensure();
  PyThreadState* thread_state = PyEval_SaveThread();
  pthread_once(&state_key_once, create_state_key);
  if (has_state_key) pthread_setspecific(state_key, thread_state);
#endif
}

}  // namespace halfwarp::interpreter
