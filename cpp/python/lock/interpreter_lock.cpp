// SPDX-License-Identifier: Apache-2.0
// Giving the interpreter's lock back around driver calls, and taking it again.
#include "python/lock/interpreter_lock.hpp"

#include <chrono>
#include <thread>

#include "core/lifetime/interpreter.hpp"
#include "interpreter/thread_state.hpp"
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

// Whether the interpreter is down to where this thread's state, if it had one, is gone.
bool has_no_interpreter() noexcept {
  return !Py_IsInitialized() && PyGILState_GetThisThreadState() == nullptr;
}

// At the interpreter's end the thread that ends it keeps its lock: no other one will have it again.
void* release_lock() noexcept {
  return has_lock() && !is_finalizing() ? PyEval_SaveThread() : nullptr;
}

void acquire_lock(void* given) noexcept { take_lock_again(static_cast<PyThreadState*>(given)); }

}  // namespace

void unwinding_end::sleep_for_ever() noexcept {
  for (;;) std::this_thread::sleep_for(std::chrono::hours{1});
}

void take_lock_again(PyThreadState* state) {
  if (has_no_interpreter()) [[unlikely]]
    unwinding_end::sleep_for_ever();
  unwinding_end end;
  PyEval_RestoreThread(state);
  end.pass();
}

PyGILState_STATE take_lock() {
  if (has_no_interpreter()) [[unlikely]]
    unwinding_end::sleep_for_ever();
  unwinding_end end;
  interpreter::keep_thread_state();
  const PyGILState_STATE state = PyGILState_Ensure();
  end.pass();
  return state;
}

void attach_interpreter_lock() noexcept { core::gil_hooks = {release_lock, acquire_lock}; }

}  // namespace halfwarp::python
