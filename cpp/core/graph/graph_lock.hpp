// SPDX-License-Identifier: Apache-2.0
// A lock for graphs and executable graphs, because drivers do not synchronize access to them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <type_traits>

#include "core/lifetime/interpreter.hpp"
#include "core/lifetime/process.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {

// Waits with the GIL released, since the holder may need it. In a child process the holder may not
// exist, and the fork may have interrupted a driver call on the graph; every call is refused there.
class graph_lock {
 public:
  void lock() noexcept {
    if (is_of_parent()) return;
    if (!mutex_.try_lock()) {
      const gil_release_if_held released;
      mutex_.lock();
    }
    is_locked_.store(true, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    if (is_of_parent()) return;
    is_locked_.store(false, std::memory_order_relaxed);
    mutex_.unlock();
  }
  // Returns CUDA_ERROR_NOT_INITIALIZED in a child process: the call must not reach the driver.
  CUresult refusal() const noexcept {
    return is_of_parent() ? CUDA_ERROR_NOT_INITIALIZED : CUDA_SUCCESS;
  }
  // Waits for a call in progress. Call before checking an argument that another thread's call may
  // destroy. Until this thread releases the GIL, no other thread can acquire the lock.
  void wait() noexcept {
    if (!is_locked_.load(std::memory_order_relaxed)) return;
    lock();
    unlock();
  }

 private:
  bool is_of_parent() const noexcept {
    return generation_ != fork_generation.load(std::memory_order_relaxed);
  }

  std::mutex mutex_;
  std::atomic<bool> is_locked_{false};
  std::uint32_t generation_ = fork_generation.load(std::memory_order_relaxed);
};

// Shared by a graph and everything that is part of it.
using shared_graph_lock = std::shared_ptr<graph_lock>;

[[nodiscard]] inline shared_graph_lock make_graph_lock() { return std::make_shared<graph_lock>(); }

// Throws the refusal of a call, if any.
inline void require_usable(const graph_lock& lock, const void* function) {
  if (const CUresult code = lock.refusal()) driver::fail(code, function);
}

// Variants of driver::call and driver::try_call that hold the lock.
template <class... Params>
inline CUresult try_call_alone(graph_lock& lock, CUresult (*function)(Params...),
                               std::type_identity_t<Params>... arguments) noexcept {
  const std::lock_guard guard{lock};
  const CUresult code = lock.refusal();
  return code == CUDA_SUCCESS ? function(arguments...) : code;
}

template <class... Params>
inline void call_alone(graph_lock& lock, CUresult (*function)(Params...),
                       std::type_identity_t<Params>... arguments) {
  if (const CUresult code = try_call_alone(lock, function, arguments...)) {
    driver::fail(code, reinterpret_cast<const void*>(function));
  }
}

template <class... Params>
inline void call_alone(const shared_graph_lock& lock, CUresult (*function)(Params...),
                       std::type_identity_t<Params>... arguments) {
  call_alone(*lock, function, arguments...);
}

}  // namespace halfwarp::core
