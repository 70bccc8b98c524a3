// SPDX-License-Identifier: Apache-2.0
// Finds a live handle again by its raw driver value.
#include "core/lifetime/registry.hpp"

#include "core/lifetime/process.hpp"

namespace halfwarp::core {
bool counted::try_add_reference() noexcept {
  std::uint32_t seen = count.load(std::memory_order_relaxed);
  while (seen != 0) {
    if (count.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

// Driver values are addresses of objects of some hundred bytes: the low bits carry nothing.
registry::bucket& registry::bucket_of(void* key) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(key);
  return buckets_[(address >> 4 ^ address >> 12) % bucket_count];
}

void registry::insert(counted& node) noexcept {
  bucket& home = bucket_of(node.key);
  const spin_guard guard{home.lock};
  node.next = home.first;
  if (node.next != nullptr) node.next->place = &node.next;
  node.place = &home.first;
  home.first = &node;
}

void registry::remove(counted& node) noexcept {
  const spin_guard guard{bucket_of(node.key).lock};
  if (node.place == nullptr) return;
  *node.place = node.next;
  if (node.next != nullptr) node.next->place = node.place;
  node.next = nullptr;
  node.place = nullptr;
}

counted* registry::find(const void* kind, void* key) noexcept {
  bucket& home = bucket_of(key);
  const spin_guard guard{home.lock};
  for (counted* node = home.first; node != nullptr; node = node->next) {
    if (node->key == key && node->kind == kind && node->try_add_reference()) return node;
  }
  return nullptr;
}

void registry::abandon() noexcept {
  for (bucket& each : buckets_) {
    each.first = nullptr;
    each.lock.unlock();
  }
}

}  // namespace halfwarp::core
