// SPDX-License-Identifier: Apache-2.0
// The lock of the loader's state, and what becomes of it when the process forks.
#include "driver/loader/opening_lock.hpp"

#include <pthread.h>
#include <time.h>

namespace halfwarp::driver {

namespace {

constexpr time_t most_seconds = 2;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_t owner;  // valid while `is_owned`
bool is_owned;
__thread bool is_held_for_fork;

bool is_mine() noexcept {
  return __atomic_load_n(&is_owned, __ATOMIC_ACQUIRE) && pthread_equal(owner, pthread_self());
}

void before_fork() {
  if (is_mine()) return;
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += most_seconds;
  is_held_for_fork = pthread_mutex_timedlock(&mutex, &until) == 0;
}

void after_fork_in_parent() {
  if (is_held_for_fork) pthread_mutex_unlock(&mutex);
  is_held_for_fork = false;
}

// Whoever else held the lock is not in the child.
void after_fork_in_child() {
  if (is_mine()) return;
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
