// SPDX-License-Identifier: Apache-2.0
// Releases the GIL while a driver call may block. cpp/core does not know Python: cpp/python
// supplies the functions.
#pragma once

namespace halfwarp::core {

// Functions that release and acquire the GIL; null where there is no interpreter.
struct interpreter_lock {
  // Releases the GIL. Returns null if the thread does not hold it or must keep it.
  void* (*release)() noexcept = nullptr;
  void (*acquire)(void* state) noexcept = nullptr;
};
inline constinit interpreter_lock lock_above{};  // written once, before the first handle is made

// Releases the GIL, if the thread holds it, for driver calls that may block. They wait for work, or
// for the driver's context lock, whose holder may wait for a host function that needs the GIL.
// Scopes may be nested.
class gil_release_if_held {
 public:
  gil_release_if_held() noexcept
      : state_{lock_above.release != nullptr ? lock_above.release() : nullptr} {}
  ~gil_release_if_held() {
    if (state_ != nullptr) lock_above.acquire(state_);
  }
  gil_release_if_held(const gil_release_if_held&) = delete;  // acquires once
  gil_release_if_held& operator=(const gil_release_if_held&) = delete;

 private:
  void* const state_;
};

}  // namespace halfwarp::core
