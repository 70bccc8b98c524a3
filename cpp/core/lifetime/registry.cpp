// SPDX-License-Identifier: Apache-2.0
// Finds a live handle by its raw driver value.
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

// Driver values are addresses of objects of a few hundred bytes, so the low bits are constant.
registry::bucket& registry::bucket_of(void* key) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(key);
  return buckets_[(address >> 4 ^ address >> 12) % bucket_count];
}

void registry::insert(counted& node) noexcept {
  bucket& target = bucket_of(node.key);
  const spin_guard guard{target.lock};
  node.next = target.first;
  if (node.next != nullptr) node.next->place = &node.next;
  node.place = &target.first;
  target.first = &node;
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
  bucket& target = bucket_of(key);
  const spin_guard guard{target.lock};
  for (counted* node = target.first; node != nullptr; node = node->next) {
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
