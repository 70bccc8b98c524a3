// SPDX-License-Identifier: Apache-2.0
// One thread at a time is inside the driver with a graph or an executable: drivers guard neither.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <type_traits>

#include "core/lifetime/interpreter.hpp"
#include "core/lifetime/process.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {

// Who waits does so without the interpreter lock, which the one inside may want. In the child of a
// fork nobody may ever give it back, and the driver, which knows the graph there, may have been
// left in the middle of a call: there each call is refused.
class graph_lock {
 public:
  void lock() noexcept {
    if (is_of_parent()) return;
    if (!inside_.try_lock()) {
      const gil_release_if_held released;
      inside_.lock();
    }
    is_taken_.store(true, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    if (is_of_parent()) return;
    is_taken_.store(false, std::memory_order_relaxed);
    inside_.unlock();
  }
  // What a call is answered without asking the driver: CUDA_ERROR_NOT_INITIALIZED in the child.
  CUresult refusal() const noexcept {
    return is_of_parent() ? CUDA_ERROR_NOT_INITIALIZED : CUDA_SUCCESS;
  }
  // Before a check of what the call is about to use: another thread may destroy it while one waits.
  // Nobody takes the lock from then on until the interpreter lock is given back.
  void wait() noexcept {
    if (!is_taken_.load(std::memory_order_relaxed)) return;
    lock();
    unlock();
  }

 private:
  bool is_of_parent() const noexcept {
    return generation_ != fork_generation.load(std::memory_order_relaxed);
  }

  std::mutex inside_;
  std::atomic<bool> is_taken_{false};
  std::uint32_t generation_ = fork_generation.load(std::memory_order_relaxed);
};

// A graph and all that is a part of it have one.
using shared_graph_lock = std::shared_ptr<graph_lock>;

[[nodiscard]] inline shared_graph_lock make_graph_lock() { return std::make_shared<graph_lock>(); }

// Throws what the driver did not come to answer.
inline void require_usable(const graph_lock& lock, const void* function) {
  if (const CUresult refused = lock.refusal()) driver::fail(refused, function);
}

// As driver::call and driver::try_call, with the lock.
template <class... Params>
inline CUresult try_call_alone(graph_lock& lock, CUresult (*function)(Params...),
                               std::type_identity_t<Params>... arguments) noexcept {
  const std::lock_guard guard{lock};
  const CUresult refused = lock.refusal();
  return refused == CUDA_SUCCESS ? function(arguments...) : refused;
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
