// SPDX-License-Identifier: Apache-2.0
// Releases the GIL around driver calls, and acquires it again.
#pragma once

#include <Python.h>

#include <type_traits>

#include "driver/call.hpp"
#include "interpreter/exit_gate.hpp"

namespace halfwarp::python {

// Python before 3.14 terminates a thread that acquires the GIL of a finalized interpreter by
// unwinding its stack. Unwinding crashes the process at the first `noexcept`, and would run
// destructors without the GIL. So code that acquires the GIL, or may do so internally, must call
// one of the three functions below. The thread then sleeps there until the process exits, as later
// versions make it. They are not inlined: unwinding checks a `noexcept` function before it runs
// destructors in it, so the sleep needs its own frame.

// Stops the unwinding of a thread by sleeping in a destructor.
class unwind_guard {
 public:
  unwind_guard() noexcept = default;
  ~unwind_guard() {
    if (is_unwound_) [[unlikely]]
      sleep_forever();
  }
  unwind_guard(const unwind_guard&) = delete;  // guards one frame
  unwind_guard& operator=(const unwind_guard&) = delete;
  void dismiss() noexcept { is_unwound_ = false; }
  [[noreturn]] static void sleep_forever() noexcept;

 private:
  bool is_unwound_ = true;
};

// Replaces PyEval_RestoreThread().
[[gnu::noinline]] void reacquire_gil(PyThreadState* state);

// Replaces PyGILState_Ensure().
[[gnu::noinline]] PyGILState_STATE acquire_gil();

// Calls code that may run Python code, which periodically releases the GIL.
template <class Call>
[[gnu::noinline]] auto run_python(Call&& call) -> decltype(call()) {
  unwind_guard guard;
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    guard.dismiss();
  } else {
    const auto result = call();
    guard.dismiss();
    return result;
  }
}

// Acquires the GIL, on any thread, whether or not it holds the GIL.
class gil_acquire {
 public:
  gil_acquire() noexcept : state_{acquire_gil()} {}
  ~gil_acquire() { PyGILState_Release(state_); }
  gil_acquire(const gil_acquire&) = delete;  // releases once

 private:
  const PyGILState_STATE state_;
};

// Releases the GIL. The thread must hold it; otherwise use core::gil_release_if_held.
class gil_release {
 public:
  gil_release() noexcept : state_{PyEval_SaveThread()} {}
  ~gil_release() { reacquire_gil(state_); }
  gil_release(const gil_release&) = delete;  // acquires once
  gil_release& operator=(const gil_release&) = delete;

 private:
  PyThreadState* const state_;
};

// Releases the GIL unless no other thread can need it (interpreter/lone_thread.hpp). The thread
// must hold it. For submissions and queries, which may wait for the driver's context lock.
class gil_release_unless_lone {
 public:
  gil_release_unless_lone() noexcept
      : state_{interpreter::gate->is_lone_thread() ? nullptr : PyEval_SaveThread()} {}
  ~gil_release_unless_lone() {
    if (state_ != nullptr) reacquire_gil(state_);
  }
  gil_release_unless_lone(const gil_release_unless_lone&) = delete;  // acquires once
  gil_release_unless_lone& operator=(const gil_release_unless_lone&) = delete;

 private:
  PyThreadState* const state_;
};

// Makes a driver call for a thread that holds the GIL; returns the status.
template <class... Params>
[[nodiscard]] CUresult submit_call(CUresult (*function)(Params...),
                                   std::type_identity_t<Params>... arguments) noexcept {
  const gil_release_unless_lone released;
  return function(arguments...);
}

// Installs the GIL functions of cpp/core. Call once, when the extension is imported.
void install_gil_hooks() noexcept;

}  // namespace halfwarp::python
