// SPDX-License-Identifier: Apache-2.0
// Giving the interpreter's lock back around driver calls, and taking it again.
#pragma once

#include <Python.h>

#include <type_traits>

namespace halfwarp::python {

// An interpreter that has ended ends a thread that wants its lock, by unwinding it (before Python
// 3.14). Neither `noexcept` nor the handler of an exception survive that, and destructors must not
// run without the lock. So whatever takes the lock goes through one of the three functions below:
// the thread sleeps for ever in them instead, as in later versions. They are calls of their own
// since a frame that may not throw is asked before the cleanups within it.

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
class lock_taken {
 public:
  lock_taken() noexcept : state_{take_lock()} {}
  ~lock_taken() { PyGILState_Release(state_); }
  lock_taken(const lock_taken&) = delete;  // what is taken is released once

 private:
  const PyGILState_STATE state_;
};

// For code that has the lock for certain; what does not know uses core::unlocked_scope.
class lock_given_back {
 public:
  lock_given_back() noexcept : state_{PyEval_SaveThread()} {}
  ~lock_given_back() { take_lock_again(state_); }
  lock_given_back(const lock_given_back&) = delete;  // what is given back is taken again once
  lock_given_back& operator=(const lock_given_back&) = delete;

 private:
  PyThreadState* const state_;
};

// Lets cpp/core give the lock back. Call once, when the extension is imported.
void attach_interpreter_lock() noexcept;

}  // namespace halfwarp::python
