// SPDX-License-Identifier: Apache-2.0
// The lock of an interpreter above us, given back while the driver may wait.
#pragma once

namespace halfwarp::core {

// How an interpreter's lock is given back and taken again; null where there is no interpreter.
struct interpreter_lock {
  // Gives back what the calling thread has; null when it has no lock, or must keep it.
  void* (*release)() noexcept = nullptr;
  void (*acquire)(void* given) noexcept = nullptr;
};
inline constinit interpreter_lock lock_above{};  // written once, before the first handle is made

// For calls that may wait: for work, or for the driver's lock of a context, which another thread
// has while it waits for a host function that needs the interpreter. Nothing happens on a thread
// that has not the interpreter's lock, so these nest.
class gil_release {
 public:
  gil_release() noexcept : given_{lock_above.release != nullptr ? lock_above.release() : nullptr} {}
  ~gil_release() {
    if (given_ != nullptr) lock_above.acquire(given_);
  }
  gil_release(const gil_release&) = delete;  // what is given back is taken again once
  gil_release& operator=(const gil_release&) = delete;

 private:
  void* const given_;
};

}  // namespace halfwarp::core
