// SPDX-License-Identifier: Apache-2.0
// Calls a C function as its record says.
#pragma once

#include "bindings/data_types/calls/kinds.hpp"
#include "bindings/results/outputs.hpp"
#include "bindings/results/tuples.hpp"
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

// The C function in the library's table; an unfilled slot holds a resolver, which may leave a
// Python error behind. The loader's barrier makes the library seen (show_library_to_threads).
inline void* function_of(const library& lib, const function& f) {
  return __atomic_load_n(&lib.state->slots[f.slot], __ATOMIC_RELAXED);
}

// The C call itself, from words.
inline word call_c(const library& lib, const function& f, const word* arguments) {
  return lib.thunks[f.caller](function_of(lib, f), arguments);
}

// Opens the library unless that is done: 1 when it has the function, 0 when not, -1 with a Python
// error set when there is no library.
int has_function(const library& lib, const function& f);

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

// Gives back the interpreter lock for the time of a call, where the function says so.
class lock_release {
 public:
  explicit lock_release(flags f)
      : state_{f & releases_gil && (!(f & is_brief) || has_other_threads()) ? PyEval_SaveThread()
                                                                            : nullptr} {}
  lock_release(const lock_release&) = delete;
  ~lock_release() {
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
  lock_release released{releases_gil};
  const interpreter::gate_pass pass{number};  // given back before the lock is taken again
  return call();
}

// Calls the C function with the words of the frame.
word invoke(const frame& c);

// The objects of all outputs, in order: how many, -1 with a Python error set.
int make_outputs(frame& c, PyObject** values);

// The result of a call that returned an error code; nullptr when it left a Python error (no
// library, no such symbol).
PyObject* failure(const library& lib, const function& f, int code);

}  // namespace halfwarp::bindings
