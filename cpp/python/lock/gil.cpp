// SPDX-License-Identifier: Apache-2.0
// Releases the GIL around driver calls, and acquires it again.
#include "python/lock/gil.hpp"

#include <chrono>
#include <thread>

#include "core/lifetime/interpreter.hpp"
#include "interpreter/thread_state.hpp"
#include "python/errors.hpp"

namespace halfwarp::python {
namespace {

// PyGILState_Check() is not usable: it always returns 1 once a subinterpreter was created.
bool holds_gil() noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  return PyThreadState_GetUnchecked() != nullptr;
#elif PY_VERSION_HEX >= 0x030c0000
  return _PyThreadState_UncheckedGet() != nullptr;
#else
  PyThreadState* const holder = _PyThreadState_UncheckedGet();  // of any thread
  return holder != nullptr && holder == PyGILState_GetThisThreadState();
#endif
}

// Returns whether the interpreter has destroyed this thread's state.
bool has_no_interpreter() noexcept {
  return !Py_IsInitialized() && PyGILState_GetThisThreadState() == nullptr;
}

// During finalization the finalizing thread keeps the GIL: no other thread can acquire it again.
void* release_gil() noexcept {
  const bool is_released = holds_gil() && !interpreter::gate->is_lone_thread() && !is_finalizing();
  return is_released ? PyEval_SaveThread() : nullptr;
}

void acquire_gil_with_state(void* state) noexcept {
  reacquire_gil(static_cast<PyThreadState*>(state));
}

}  // namespace

void unwind_guard::sleep_forever() noexcept {
  for (;;) std::this_thread::sleep_for(std::chrono::hours{1});
}

void reacquire_gil(PyThreadState* state) {
  if (has_no_interpreter()) [[unlikely]]
    unwind_guard::sleep_forever();
  unwind_guard guard;
  PyEval_RestoreThread(state);
  guard.dismiss();
}

PyGILState_STATE acquire_gil() {
  if (has_no_interpreter()) [[unlikely]]
    unwind_guard::sleep_forever();
  unwind_guard guard;
  interpreter::retain_thread_state();
  const PyGILState_STATE state = PyGILState_Ensure();
  guard.dismiss();
  return state;
}

void install_gil_hooks() noexcept { core::gil_hooks = {release_gil, acquire_gil_with_state}; }

}  // namespace halfwarp::python
