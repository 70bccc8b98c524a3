// SPDX-License-Identifier: Apache-2.0
// Charges the blocks of kernels to the heap of their context.
#include "emulator/memory/device_heap.hpp"

#include <algorithm>
#include <utility>

#include "emulator/memory/address_space.hpp"

namespace halfwarp::emulator::memory {
namespace {

// Returns what a block takes of the heap: a unit for the books of the heap, and whole units.
std::uint64_t cost_of(std::uint64_t bytes) {
  constexpr std::uint64_t unit = 16;
  return (bytes + 2 * unit - 1) / unit * unit;
}

}  // namespace

bool device_heap::set_limit(std::uint64_t bytes) noexcept {
  if (is_used_.load(std::memory_order_relaxed) && bytes != limit()) return false;
  limit_.store(bytes, std::memory_order_relaxed);
  return true;
}

void device_heap::clear() noexcept {
  used_.store(0, std::memory_order_relaxed);
  is_used_.store(false, std::memory_order_relaxed);
}

std::optional<address> device_heap::allocate(address_space& space, std::uint64_t bytes, int device,
                                             std::uint64_t context, std::string site) {
  is_used_.store(true, std::memory_order_relaxed);
  if (bytes > limit()) return std::nullopt;
  bytes = std::max<std::uint64_t>(bytes, 1);
  const std::uint64_t cost = cost_of(bytes);
  if (used_.fetch_add(cost) + cost > limit()) {
    used_.fetch_sub(cost);
    return std::nullopt;
  }
  allocation_request request;
  request.size = bytes;
  request.kind = allocation_kind::heap;
  request.device = device;
  request.context = context;
  request.created_at = std::move(site);
  const auto base = space.allocate(request);
  if (!base) used_.fetch_sub(cost);
  return base;
}

free_result device_heap::release(address_space& space, address base, std::string site) {
  const auto match = space.find_live(base);
  if (match && match->kind != allocation_kind::heap) return {free_status::not_the_base, match};
  free_result result = space.release(base, {0, std::move(site)});
  if (result.status == free_status::done) used_.fetch_sub(cost_of(result.record->size));
  return result;
}

}  // namespace halfwarp::emulator::memory
