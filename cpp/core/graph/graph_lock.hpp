// SPDX-License-Identifier: Apache-2.0
// A lock for graphs and executable graphs, because drivers do not synchronize access to them.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

#include "core/lifetime/interpreter.hpp"
#include "core/lifetime/process.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {

// A recursive lock: an operation holds it over several calls, which may run finalizers that use the
// same graph. Waits with the GIL released, since the holder may need it. In a child process the
// holder may not exist, and the fork may have interrupted a driver call on the graph; every call is
// refused there.
class graph_lock {
 public:
  void lock() noexcept {
    if (is_of_parent()) return;
    if (owner_.load(std::memory_order_relaxed) != std::this_thread::get_id()) {
      if (!mutex_.try_lock()) {
        const gil_release_if_held released;
        mutex_.lock();
      }
      owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    ++depth_;
  }
  void unlock() noexcept {
    if (is_of_parent() || --depth_ != 0) return;
    owner_.store({}, std::memory_order_relaxed);
    mutex_.unlock();
  }
  // Returns CUDA_ERROR_NOT_INITIALIZED in a child process: the call must not reach the driver.
  CUresult refusal() const noexcept {
    return is_of_parent() ? CUDA_ERROR_NOT_INITIALIZED : CUDA_SUCCESS;
  }
  // Waits for a call in progress. Call before checking an argument that another thread's call may
  // destroy. Until this thread releases the GIL, no other thread can acquire the lock.
  void wait() noexcept {
    if (owner_.load(std::memory_order_relaxed) == std::thread::id{}) return;
    lock();
    unlock();
  }

 private:
  bool is_of_parent() const noexcept {
    return generation_ != fork_generation.load(std::memory_order_relaxed);
  }

  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};  // the thread that holds the lock
  std::size_t depth_ = 0;                 // only the holder uses it
  std::uint32_t generation_ = fork_generation.load(std::memory_order_relaxed);
};

// Shared by a graph and everything that is part of it.
using shared_graph_lock = std::shared_ptr<graph_lock>;

[[nodiscard]] inline shared_graph_lock make_graph_lock() { return std::make_shared<graph_lock>(); }

// Holds a graph's lock to the end of a scope, over checks, driver calls and changes of the index
// that must agree. Create it after user code has run, since a lock held then could wait for that
// code.
class graph_hold {
 public:
  graph_hold() noexcept = default;
  explicit graph_hold(const shared_graph_lock& lock) noexcept : first_(lock) { first_->lock(); }
  // Acquires the locks of two graphs. Threads that name them in different orders do not deadlock,
  // unless a thread holds one of them already.
  graph_hold(const shared_graph_lock& one, const shared_graph_lock& other) noexcept
      : graph_hold(std::less<>{}(one.get(), other.get()) ? one : other) {
    if (one == other) return;
    second_ = first_ == one ? other : one;
    second_->lock();
  }
  graph_hold(graph_hold&&) noexcept = default;
  graph_hold& operator=(graph_hold&& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(second_, other.second_);
    return *this;
  }
  ~graph_hold() {
    if (second_ != nullptr) second_->unlock();
    if (first_ != nullptr) first_->unlock();
  }

 private:
  shared_graph_lock first_;
  shared_graph_lock second_;
};

// Detects that a graph and all its parts were destroyed, without retaining them.
class graph_watch {
 public:
  void follow(const shared_graph_lock& lock) noexcept { lock_ = lock; }
  bool is_gone() const noexcept { return lock_.expired(); }

 private:
  std::weak_ptr<graph_lock> lock_;
};

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
