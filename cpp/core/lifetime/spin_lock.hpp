// SPDX-License-Identifier: Apache-2.0
// A lock of one byte for operations of a few nanoseconds. Code under it never blocks and never
// calls the driver.
#pragma once

#include <sched.h>

#include <atomic>
#include <mutex>

namespace halfwarp::core {

class spin_lock {
 public:
  void lock() noexcept {
    while (flag_.test_and_set(std::memory_order_acquire)) {
      for (int spins = 0; flag_.test(std::memory_order_relaxed); ++spins) {
        if (spins == 100) spins = sched_yield();  // the holder may need this processor
      }
    }
  }
  void unlock() noexcept { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

using spin_guard = std::lock_guard<spin_lock>;

}  // namespace halfwarp::core
