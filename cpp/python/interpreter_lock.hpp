// SPDX-License-Identifier: Apache-2.0
// Giving the interpreter's lock back around driver calls, and taking it again.
#pragma once

#include <Python.h>

namespace halfwarp::python {

// Never comes back: for a thread that an interpreter which has ended would end.
[[noreturn]] void sleep_for_ever() noexcept;

// Instead of PyEval_RestoreThread() in C++. An interpreter that has ended meanwhile ends the thread
// by unwinding it (before Python 3.14), which neither destructors nor `noexcept` survive; the
// thread sleeps instead, as in later versions.
inline void take_lock_again(PyThreadState* state) noexcept {
  try {
    PyEval_RestoreThread(state);
  } catch (...) {
    sleep_for_ever();
  }
}

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
