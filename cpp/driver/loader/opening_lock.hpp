// SPDX-License-Identifier: Apache-2.0
// The lock of the loader's state, and what becomes of it when the process forks.
#pragma once

namespace halfwarp::driver {

// One thread at a time opens a library. It is never held while the GIL is taken.
class opening_lock {
 public:
  opening_lock() noexcept;
  ~opening_lock();
  opening_lock(const opening_lock&) = delete;  // one lock, one owner
  opening_lock& operator=(const opening_lock&) = delete;

  // Makes forks wait until nobody is opening a library, so that the child finds none half open.
  // What is opened may fork itself, on the opening thread or, which nobody can tell from other
  // forks, on one that the opening thread waits for: such a fork goes on after two seconds. Once.
  static void watch_forks() noexcept;
};

}  // namespace halfwarp::driver
