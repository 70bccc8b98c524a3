// SPDX-License-Identifier: Apache-2.0
// How cpp/core gives the interpreter's lock back around driver calls that may wait.
#include "python/interpreter_lock.hpp"

#include <Python.h>

#include <chrono>
#include <thread>

#include "core/lifetime/interpreter.hpp"
#include "python/errors.hpp"

namespace halfwarp::python {
namespace {

// Not PyGILState_Check(): it says yes to everybody once there was a second interpreter.
bool has_lock() noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  return PyThreadState_GetUnchecked() != nullptr;
#elif PY_VERSION_HEX >= 0x030c0000
  return _PyThreadState_UncheckedGet() != nullptr;
#else
  PyThreadState* const holder = _PyThreadState_UncheckedGet();  // on whatever thread
  return holder != nullptr && holder == PyGILState_GetThisThreadState();
#endif
}

// At the interpreter's end the thread that ends it keeps its lock: no other one will have it again.
void* give_back() noexcept { return has_lock() && !is_finalizing() ? PyEval_SaveThread() : nullptr; }

// An interpreter that has ended meanwhile ends the thread by unwinding it (before Python 3.14),
// which destructors do not survive. The thread sleeps instead, as in later versions.
void take_again(void* given) noexcept {
  try {
    PyEval_RestoreThread(static_cast<PyThreadState*>(given));
  } catch (...) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours{1});
  }
}

}  // namespace

void attach_interpreter_lock() noexcept { core::lock_above = {give_back, take_again}; }

}  // namespace halfwarp::python
