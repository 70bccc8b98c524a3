// SPDX-License-Identifier: Apache-2.0
// Lets callbacks into the interpreter until it ends, and none after that.
#include "bindings/special/callback_gate.hpp"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace halfwarp::bindings {
namespace {

constexpr PY_TIMEOUT_T step = 10'000;  // microseconds between two looks
constexpr int most_steps = 500;        // five seconds in all

int running;
bool is_closed;
PyThread_type_lock never;  // always held: trying to get it is waiting

}  // namespace

callback_gate::callback_gate() noexcept {
  __atomic_fetch_add(&running, 1, __ATOMIC_SEQ_CST);
  is_open_ = !__atomic_load_n(&is_closed, __ATOMIC_SEQ_CST);
}

callback_gate::~callback_gate() { __atomic_fetch_sub(&running, 1, __ATOMIC_SEQ_CST); }

bool callback_gate::prepare() {
  if (!never && (never = PyThread_allocate_lock())) PyThread_acquire_lock(never, NOWAIT_LOCK);
  return never || PyErr_NoMemory();
}

void callback_gate::close() {
  __atomic_store_n(&is_closed, true, __ATOMIC_SEQ_CST);
  PyThreadState* state = PyEval_SaveThread();
  for (int i = 0; i < most_steps && __atomic_load_n(&running, __ATOMIC_SEQ_CST); ++i)
    PyThread_acquire_lock_timed(never, step, 0);
  PyEval_RestoreThread(state);
}

void callback_gate::forget() { __atomic_store_n(&running, 0, __ATOMIC_SEQ_CST); }

}  // namespace halfwarp::bindings
