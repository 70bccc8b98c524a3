// SPDX-License-Identifier: Apache-2.0
// A lock of one byte for what takes a few nanoseconds: nothing blocks while it is held, and no
// driver is called.
#pragma once

#include <sched.h>

#include <atomic>

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

class spin_guard {
 public:
  explicit spin_guard(spin_lock& lock) noexcept : lock_{lock} { lock_.lock(); }
  ~spin_guard() { lock_.unlock(); }
  spin_guard(const spin_guard&) = delete;  // one guard, one lock
  spin_guard& operator=(const spin_guard&) = delete;

 private:
  spin_lock& lock_;
};

}  // namespace halfwarp::core
