// SPDX-License-Identifier: Apache-2.0
// Finds a live handle again by its raw driver value, so that two wrappers share one owner.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/lifetime/spin_lock.hpp"

namespace halfwarp::core {

// The part of every handle's node that needs no type: its count and its place in a registry.
struct counted {
  std::atomic<std::uint32_t> count{1};
  std::uint32_t generation = 0;  // of the process, when the node was made: see process.hpp
  const void* kind = nullptr;    // one address for each kind of handle
  void* key = nullptr;           // the raw driver value
  counted* next = nullptr;
  counted** place = nullptr;  // the pointer that points here; null when not in a registry

  void add_reference() noexcept { count.fetch_add(1, std::memory_order_relaxed); }
  // Fails on a node whose last holder is just letting go.
  [[nodiscard]] bool try_add_reference() noexcept;
  // Whether those were the last ones.
  [[nodiscard]] bool drop_references(std::uint32_t dropped) noexcept {
    return count.fetch_sub(dropped, std::memory_order_acq_rel) == dropped;
  }
};

// All handles of the process that were made here and are still alive. Buckets with a lock of one
// byte each: nothing blocks while it is held, so a spinning lock is enough, and an insertion costs
// a few nanoseconds.
class registry {
 public:
  void insert(counted& node) noexcept;
  void remove(counted& node) noexcept;
  // With a reference added for the caller; null when there is none alive.
  [[nodiscard]] counted* find(const void* kind, void* key) noexcept;
  // Forgets everything, locks included: for the child of a fork.
  void abandon() noexcept;

 private:
  static constexpr std::size_t bucket_count = 1024;
  struct bucket {
    spin_lock lock;
    counted* first = nullptr;
  };
  bucket& bucket_of(void* key) noexcept;
  bucket buckets_[bucket_count]{};
};

inline constinit registry live_handles;

}  // namespace halfwarp::core
