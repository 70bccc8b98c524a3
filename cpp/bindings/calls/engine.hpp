// SPDX-License-Identifier: Apache-2.0
// Calls a C function as its record says, by Python's calling rules.
#pragma once

#include "bindings/conventions/results.hpp"
#include "bindings/converters/face_kinds.hpp"
#include "bindings/records/c_calls.hpp"
#include "bindings/records/records.hpp"
#include "interpreter/exit_gate.hpp"

namespace halfwarp::bindings {

// The Python call: binds, converts, calls, builds the result.
PyObject* call(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
               PyObject* names);
// The same without the function's own entry, for that entry to use.
PyObject* call_by_record(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                         PyObject* names);

// What a function of a module points to: the engine with the record's place in the table.
template <const library& Library, int Index>
PyObject* entry(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  return call(Library, Library.functions[Index], args, n, names);
}

// Whether a thread of this interpreter besides this one could take the lock. Threads of Python are
// made by one that holds it; those of C++ that come later, and those of another interpreter that
// shares the lock, wait until a brief call is over.
inline bool has_other_threads() {
#ifdef Py_GIL_DISABLED
  return true;
#else
  PyThreadState* own = PyThreadState_Get();  // in a list of all threads
  return own->prev || own->next;
#endif
}

// Releases the GIL during a call if the flags of the function say so. The engine is built without
// unwind tables: a thread that is unwound runs no destructor here, so no guard is needed, unlike in
// python::gil_release.
class gil_release_for {
 public:
  explicit gil_release_for(function_flags f)
      : state_{f & releases_gil && (!(f & is_brief) || has_other_threads()) ? PyEval_SaveThread()
                                                                            : nullptr} {}
  gil_release_for(const gil_release_for&) = delete;
  ~gil_release_for() {
    if (state_) PyEval_RestoreThread(state_);
  }

 private:
  PyThreadState* state_;
};

// A call that must not be under way when the process ends. One that the gate leaves out has left a
// Python error, and gives the code of some error.
template <class Call>
[[gnu::noinline]] word call_behind_gate(Call&& call) {
  const std::uint64_t number = interpreter::gate->enter_or_wait();
  if (!number) return 1;
  gil_release_for released{releases_gil};
  const interpreter::gate_pass pass{number};  // given back before the lock is taken again
  return call();
}

// Calls the C function with the words of the frame.
word invoke(const frame& c);

// The result of a call that returned an error code; nullptr when it left a Python error (no
// library, no such symbol).
PyObject* failure(const library& lib, const function& f, int code);

// Puts the arguments of a call in the order of the record; nullptr where an optional one is
// missing.
bool bind_arguments(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                    PyObject* keywords, PyObject** bound);

}  // namespace halfwarp::bindings
