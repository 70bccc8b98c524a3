// SPDX-License-Identifier: Apache-2.0
// The exit gate of the process, which only the extension `cuda.bindings._low` contains.
#include "interpreter/exit_gate.hpp"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "interpreter/lone_thread.hpp"

namespace halfwarp::interpreter {
namespace {

constexpr PY_TIMEOUT_T poll_interval = 10'000;  // microseconds between checks
constexpr PY_TIMEOUT_T max_wait = 5'000'000;    // microseconds in total
constexpr std::uint64_t closer_pass = ~std::uint64_t{0};

int pass_count;
std::uint64_t generation = 1;  // of the counted passes; a fork invalidates earlier passes
bool is_closed;
unsigned long closer;           // the thread that closed the gate
PyThread_type_lock timer_lock;  // always held: a timed acquire waits for the timeout

void leave(std::uint64_t pass) noexcept {
  if (pass == generation) __atomic_fetch_sub(&pass_count, 1, __ATOMIC_SEQ_CST);
}

std::uint64_t enter() noexcept {
  __atomic_fetch_add(&pass_count, 1, __ATOMIC_SEQ_CST);
  if (!__atomic_load_n(&is_closed, __ATOMIC_SEQ_CST)) return generation;
  leave(generation);
  return 0;
}

std::uint64_t enter_or_wait() {
  if (const std::uint64_t pass = enter()) return pass;
  if (PyThread_get_thread_ident() == closer) return closer_pass;
  PyThreadState* state = PyEval_SaveThread();
  PyThread_acquire_lock_timed(timer_lock, max_wait, 0);
  PyEval_RestoreThread(state);
  PyErr_SetString(PyExc_RuntimeError,
                  "the interpreter is exiting: a compilation can no longer be started on a thread "
                  "other than the one that ends it; join the threads that compile before the end "
                  "of the program");
  return 0;
}

bool is_empty() { return __atomic_load_n(&pass_count, __ATOMIC_SEQ_CST) == 0; }

bool close() {
  if (is_closed) return is_empty();
  closer = PyThread_get_thread_ident();
  __atomic_store_n(&is_closed, true, __ATOMIC_SEQ_CST);
  PyThreadState* state = PyEval_SaveThread();
  for (PY_TIMEOUT_T waited = 0; waited < max_wait && !is_empty(); waited += poll_interval)
    PyThread_acquire_lock_timed(timer_lock, poll_interval, 0);
  PyEval_RestoreThread(state);
  return is_empty();
}

}  // namespace

const exit_gate process_exit_gate = {enter, enter_or_wait,  leave,
                                     close, is_lone_thread, expect_callbacks};

bool prepare_exit_gate() {
  if (!timer_lock && (timer_lock = PyThread_allocate_lock()))
    PyThread_acquire_lock(timer_lock, NOWAIT_LOCK);
  gate = &process_exit_gate;
  return timer_lock || PyErr_NoMemory();
}

// Invalidates all passes, including the forking thread's own.
void reset_passes() noexcept {
  ++generation;
  pass_count = 0;
}

}  // namespace halfwarp::interpreter
