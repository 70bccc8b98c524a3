// SPDX-License-Identifier: Apache-2.0
// The one gate of the process; part of the extension `cuda.bindings._low` alone.
#include "interpreter/exit_gate.hpp"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace halfwarp::interpreter {
namespace {

constexpr PY_TIMEOUT_T step = 10'000;         // microseconds between two looks
constexpr PY_TIMEOUT_T patience = 5'000'000;  // five seconds in all
constexpr std::uint64_t of_closer = ~std::uint64_t{0};

int inside;
std::uint64_t generation = 1;  // of the passes that count: those of before a fork do not
bool is_closed;
unsigned long closer;      // the thread that closed it
PyThread_type_lock never;  // always held: trying to get it is waiting

void leave(std::uint64_t pass) noexcept {
  if (pass == generation) __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
}

std::uint64_t enter() noexcept {
  __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
  if (!__atomic_load_n(&is_closed, __ATOMIC_SEQ_CST)) return generation;
  leave(generation);
  return 0;
}

std::uint64_t enter_or_wait() {
  if (const std::uint64_t pass = enter()) return pass;
  if (PyThread_get_thread_ident() == closer) return of_closer;
  PyThreadState* state = PyEval_SaveThread();
  PyThread_acquire_lock_timed(never, patience, 0);
  PyEval_RestoreThread(state);
  PyErr_SetString(PyExc_RuntimeError,
                  "the interpreter is exiting: a compilation can no longer be started on a thread "
                  "other than the one that ends it; join the threads that compile before the end "
                  "of the program");
  return 0;
}

bool is_empty() { return __atomic_load_n(&inside, __ATOMIC_SEQ_CST) == 0; }

bool close() {
  if (is_closed) return is_empty();
  closer = PyThread_get_thread_ident();
  __atomic_store_n(&is_closed, true, __ATOMIC_SEQ_CST);
  PyThreadState* state = PyEval_SaveThread();
  for (PY_TIMEOUT_T waited = 0; waited < patience && !is_empty(); waited += step)
    PyThread_acquire_lock_timed(never, step, 0);
  PyEval_RestoreThread(state);
  return is_empty();
}

}  // namespace

const exit_gate own_exit_gate = {enter, enter_or_wait, leave, close};

bool prepare_exit_gate() {
  if (!never && (never = PyThread_allocate_lock())) PyThread_acquire_lock(never, NOWAIT_LOCK);
  gate = &own_exit_gate;
  return never || PyErr_NoMemory();
}

// A pass that the forking thread itself holds counts no more either.
void forget_passes() noexcept {
  ++generation;
  inside = 0;
}

}  // namespace halfwarp::interpreter
