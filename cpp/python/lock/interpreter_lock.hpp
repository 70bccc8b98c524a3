// SPDX-License-Identifier: Apache-2.0
// Giving the interpreter's lock back around driver calls, and taking it again.
#pragma once

#include <Python.h>

#include <type_traits>

namespace halfwarp::python {

// Before Python 3.14, a thread that asks for the lock of an interpreter that has ended is ended by
// the system, which unwinds its stack. Unwinding ends the process at the first `noexcept`, and
// would run destructors without the lock. The rule: whatever takes the lock, or may do so in the
// middle, calls one of the three functions below; the thread then sleeps in it until the process
// ends, as later versions let it. None of them is inlined: unwinding asks a `noexcept` function
// before it runs the destructors in it, so the sleep needs a frame of its own.

// Where the thread sleeps that is unwound.
class unwinding_end {
 public:
  unwinding_end() noexcept = default;
  ~unwinding_end() {
    if (is_unwound_) [[unlikely]]
      sleep_for_ever();
  }
  unwinding_end(const unwinding_end&) = delete;  // it stands for its frame
  unwinding_end& operator=(const unwinding_end&) = delete;
  void pass() noexcept { is_unwound_ = false; }
  [[noreturn]] static void sleep_for_ever() noexcept;

 private:
  bool is_unwound_ = true;
};

// Instead of PyEval_RestoreThread().
[[gnu::noinline]] void take_lock_again(PyThreadState* state);

// Instead of PyGILState_Ensure().
[[gnu::noinline]] PyGILState_STATE take_lock();

// Calls what may run code of Python, which gives the lock back every few milliseconds.
template <class Call>
[[gnu::noinline]] auto run_python(Call&& call) -> decltype(call()) {
  unwinding_end end;
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    end.pass();
  } else {
    const auto result = call();
    end.pass();
    return result;
  }
}

// For code that may be called without the lock, on whatever thread.
class gil_acquire {
 public:
  gil_acquire() noexcept : state_{take_lock()} {}
  ~gil_acquire() { PyGILState_Release(state_); }
  gil_acquire(const gil_acquire&) = delete;  // what is taken is released once

 private:
  const PyGILState_STATE state_;
};

// Releases the GIL. The thread must hold it; otherwise use core::gil_release_if_held.
class gil_release {
 public:
  gil_release() noexcept : state_{PyEval_SaveThread()} {}
  ~gil_release() { take_lock_again(state_); }
  gil_release(const gil_release&) = delete;  // acquires once
  gil_release& operator=(const gil_release&) = delete;

 private:
  PyThreadState* const state_;
};

// Lets cpp/core give the lock back. Call once, when the extension is imported.
void attach_interpreter_lock() noexcept;

}  // namespace halfwarp::python
