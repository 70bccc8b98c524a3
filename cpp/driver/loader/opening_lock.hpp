// SPDX-License-Identifier: Apache-2.0
// The lock of the loader's state, and its handling by fork.
#pragma once

namespace halfwarp::driver {

// Serializes the opening of libraries. The GIL is never acquired while the lock is held.
class opening_lock {
 public:
  opening_lock() noexcept;
  ~opening_lock();
  opening_lock(const opening_lock&) = delete;  // one lock, one owner
  opening_lock& operator=(const opening_lock&) = delete;

  // Call once. Makes a fork wait until no library is being opened, so that the child process has no
  // half-open library. The library itself may fork, on the opening thread or on a thread that it
  // waits for; the latter cannot be distinguished, so a fork waits for two seconds at most.
  static void watch_forks() noexcept;
};

}  // namespace halfwarp::driver
