// SPDX-License-Identifier: Apache-2.0
// The lock of the library. Every call holds it; a wait for events releases it.
#pragma once

#include <pthread.h>

namespace halfwarp::emulated_nvml {

extern pthread_mutex_t mutex;
extern pthread_cond_t event_posted;  // uses CLOCK_MONOTONIC

class lock_guard {
 public:
  lock_guard() noexcept { pthread_mutex_lock(&mutex); }
  ~lock_guard() { pthread_mutex_unlock(&mutex); }
  lock_guard(const lock_guard&) = delete;  // one lock, one owner
  lock_guard& operator=(const lock_guard&) = delete;
};

}  // namespace halfwarp::emulated_nvml
