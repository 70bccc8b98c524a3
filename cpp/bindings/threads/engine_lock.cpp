// SPDX-License-Identifier: Apache-2.0
// Recursive lock based on Python's portable lock.
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

PyThread_type_lock mutex;
unsigned long owner;  // thread that holds the lock; 0: none. Compared with the calling thread only
int depth;

bool is_mine() { return __atomic_load_n(&owner, __ATOMIC_RELAXED) == PyThread_get_thread_ident(); }

void wait() {
  PyThreadState* state = PyEval_SaveThread();
  PyThread_acquire_lock(mutex, WAIT_LOCK);
  PyEval_RestoreThread(state);
}

}  // namespace

bool engine_lock::prepare() {
  if (!mutex) mutex = PyThread_allocate_lock();
  return mutex || PyErr_NoMemory();
}

void engine_lock::reset_after_fork() {
  if (!owner || is_mine()) return;
  if (PyThread_type_lock lock = PyThread_allocate_lock()) mutex = lock;  // the old lock stays held
  owner = 0;
  depth = 0;
}

engine_lock::engine_lock() {
  if (!is_mine()) {
    if (!PyThread_acquire_lock(mutex, NOWAIT_LOCK)) wait();
    __atomic_store_n(&owner, PyThread_get_thread_ident(), __ATOMIC_RELAXED);
  }
  ++depth;
}

engine_lock::~engine_lock() {
  if (--depth) return;
  __atomic_store_n(&owner, 0ul, __ATOMIC_RELAXED);
  PyThread_release_lock(mutex);
}

}  // namespace halfwarp::bindings
