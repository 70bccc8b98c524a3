// SPDX-License-Identifier: Apache-2.0
// Finds a live handle by its raw driver value, so that two wrappers share one owner.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/lifetime/spin_lock.hpp"

namespace halfwarp::core {

// The untyped part of a handle's node: its reference count and its link in a registry.
struct counted {
  std::atomic<std::uint32_t> count{1};
  std::uint32_t generation = 0;  // fork_generation when the node was created
  const void* kind = nullptr;    // address that identifies the kind of handle
  void* key = nullptr;           // the raw driver value
  counted* next = nullptr;
  counted** place = nullptr;  // pointer to this node; null if it is in no registry

  void add_reference() noexcept { count.fetch_add(1, std::memory_order_relaxed); }
  // Fails if the last reference is being released.
  [[nodiscard]] bool try_add_reference() noexcept;
  // Returns whether the count reached zero.
  [[nodiscard]] bool remove_references(std::uint32_t removed) noexcept {
    return count.fetch_sub(removed, std::memory_order_acq_rel) == removed;
  }
};

// All live handles that this library created. Each bucket has a spin lock of one byte, because no
// operation under it blocks; an insertion costs a few nanoseconds.
class registry {
 public:
  void insert(counted& node) noexcept;
  void remove(counted& node) noexcept;
  // Returns the node with a new reference for the caller; null if there is no live one.
  [[nodiscard]] counted* find(const void* kind, void* key) noexcept;
  // Removes all nodes and resets the locks, for a child process.
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
