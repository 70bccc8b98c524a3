// SPDX-License-Identifier: Apache-2.0
// The lock of the loader's state, and its handling by fork.
#include "driver/loader/opening_lock.hpp"

#include <pthread.h>
#include <time.h>

namespace halfwarp::driver {

namespace {

constexpr time_t max_seconds = 2;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_t owner;  // valid while `is_owned`
bool is_owned;
__thread bool is_held_for_fork;

bool is_held_by_this_thread() noexcept {
  return __atomic_load_n(&is_owned, __ATOMIC_ACQUIRE) && pthread_equal(owner, pthread_self());
}

void before_fork() {
  if (is_held_by_this_thread()) return;
  timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += max_seconds;
  is_held_for_fork = pthread_mutex_timedlock(&mutex, &deadline) == 0;
}

void after_fork_in_parent() {
  if (is_held_for_fork) pthread_mutex_unlock(&mutex);
  is_held_for_fork = false;
}

// Another thread that held the lock does not exist in the child process.
void after_fork_in_child() {
  if (is_held_by_this_thread()) return;
  mutex = PTHREAD_MUTEX_INITIALIZER;
  is_owned = is_held_for_fork = false;
}

}  // namespace

opening_lock::opening_lock() noexcept {
  pthread_mutex_lock(&mutex);
  owner = pthread_self();
  __atomic_store_n(&is_owned, true, __ATOMIC_RELEASE);
}

opening_lock::~opening_lock() {
  __atomic_store_n(&is_owned, false, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&mutex);
}

void opening_lock::watch_forks() noexcept {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace halfwarp::driver
