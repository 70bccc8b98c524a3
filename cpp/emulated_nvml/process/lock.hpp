// SPDX-License-Identifier: Apache-2.0
// The one lock of the library: every call holds it, and a wait for events gives it back meanwhile.
#pragma once

#include <pthread.h>

namespace halfwarp::emulated_nvml {

extern pthread_mutex_t mutex;
extern pthread_cond_t event_came;  // with CLOCK_MONOTONIC

class lock_guard {
 public:
  lock_guard() noexcept { pthread_mutex_lock(&mutex); }
  ~lock_guard() { pthread_mutex_unlock(&mutex); }
  lock_guard(const lock_guard&) = delete;  // one lock, one owner
  lock_guard& operator=(const lock_guard&) = delete;
};

}  // namespace halfwarp::emulated_nvml
