// SPDX-License-Identifier: Apache-2.0
// A lock of one byte for what takes a few nanoseconds: nothing blocks while it is held, and no
// driver is called.
#pragma once

#include <sched.h>

#include <atomic>
#include <mutex>

namespace halfwarp::core {

class spin_lock {
 public:
  void lock() noexcept {
    while (taken_.test_and_set(std::memory_order_acquire)) {
      for (int turns = 0; taken_.test(std::memory_order_relaxed); ++turns) {
        if (turns == 100) turns = sched_yield();  // who holds it may wait for this processor
      }
    }
  }
  void unlock() noexcept { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
};

using spin_guard = std::lock_guard<spin_lock>;

}  // namespace halfwarp::core
