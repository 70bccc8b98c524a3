// SPDX-License-Identifier: Apache-2.0
// Calls a C function as its record describes, by Python's calling conventions.
#pragma once

#include "bindings/conventions/results.hpp"
#include "bindings/converters/face_kinds.hpp"
#include "bindings/records/c_calls.hpp"
#include "bindings/records/records.hpp"
#include "interpreter/exit_gate.hpp"
#include "interpreter/lone_thread.hpp"

namespace halfwarp::bindings {

// Binds and converts the arguments, calls the C function, builds the result.
PyObject* call(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
               PyObject* names);
// Calls by the record alone; for the handwritten entry of a function.
PyObject* call_by_record(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                         PyObject* names);

// Entry point of a module function: passes its record to the engine.
template <const library& Library, int Index>
PyObject* entry(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  return call(Library, Library.functions[Index], args, n, names);
}

// Whether another thread of this interpreter could acquire the GIL. A Python thread can only be
// started by a thread that holds the GIL. C++ threads that attach later, and threads of an
// interpreter that shares the GIL, wait until a brief call returns.
inline bool has_other_threads() {
#ifdef Py_GIL_DISABLED
  return true;
#else
  PyThreadState* own = PyThreadState_Get();  // a node of the list of all threads
  return own->prev || own->next;
#endif
}

// Returns whether a call releases the GIL.
inline bool releases_lock(function_flags f) {
  if (f & calls_back) interpreter::expect_callbacks();
  if (!(f & releases_gil)) return false;
  if (f & is_brief) return has_other_threads();
  return !(f & is_submission) || !interpreter::is_lone_thread();
}

// Releases the GIL during a call if the flags of the function say so. The engine is built without
// unwind tables: a thread that is unwound runs no destructor here, so no guard is needed, unlike in
// python::gil_release.
class gil_release_for {
 public:
  explicit gil_release_for(function_flags f)
      : state_{releases_lock(f) ? PyEval_SaveThread() : nullptr} {}
  gil_release_for(const gil_release_for&) = delete;
  ~gil_release_for() {
    if (state_) PyEval_RestoreThread(state_);
  }

 private:
  PyThreadState* state_;
};

// Makes a call that must not run while the process exits. If the gate is closed, returns the code
// of some error; a Python error is set.
template <class Call>
[[gnu::noinline]] word call_behind_gate(Call&& call) {
  const std::uint64_t number = interpreter::gate->enter_or_wait();
  if (!number) return 1;
  gil_release_for released{releases_gil};
  const interpreter::gate_pass pass{number};  // destroyed before the GIL is acquired
  return call();
}

// Calls the C function with the words of the frame.
word invoke(const frame& c);

// Returns the result of a call that failed with `code`; nullptr if a Python error is set (missing
// library or symbol).
PyObject* failure(const library& lib, const function& f, int code);

// Orders the arguments of a call like the parameters of the record; nullptr for a missing optional
// one.
bool bind_arguments(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                    PyObject* keywords, PyObject** bound);

}  // namespace halfwarp::bindings
