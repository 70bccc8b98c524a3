// SPDX-License-Identifier: Apache-2.0
// Releases the GIL while a driver call may block. cpp/core does not know Python: cpp/python
// supplies the functions.
#pragma once

namespace halfwarp::core {

// Functions that release and acquire the GIL; null without an interpreter.
struct gil_functions {
  // Releases the GIL. Returns null if the thread does not hold it or must keep it.
  void* (*release)() noexcept = nullptr;
  void (*acquire)(void* state) noexcept = nullptr;
};
inline constinit gil_functions gil_hooks{};  // set once, before the first handle is created

// Releases the GIL, if the thread holds it, for driver calls that may block. They wait for work, or
// for the driver's context lock, whose holder may wait for a host function that needs the GIL.
// Scopes may be nested.
class gil_release_if_held {
 public:
  gil_release_if_held() noexcept
      : state_{gil_hooks.release != nullptr ? gil_hooks.release() : nullptr} {}
  ~gil_release_if_held() {
    if (state_ != nullptr) gil_hooks.acquire(state_);
  }
  gil_release_if_held(const gil_release_if_held&) = delete;  // acquires once
  gil_release_if_held& operator=(const gil_release_if_held&) = delete;

 private:
  void* const state_;
};

}  // namespace halfwarp::core
