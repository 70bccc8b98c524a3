// SPDX-License-Identifier: Apache-2.0
// The heap of a context, from which kernels allocate with malloc and new.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "emulator/memory/allocation.hpp"

namespace halfwarp::emulator::memory {

class address_space;
struct free_result;

// Every block is an allocation of its own, so that accesses outside of it are faults. Thread-safe.
class device_heap {
 public:
  static constexpr std::uint64_t default_bytes = 8 << 20;

  std::uint64_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  // Returns false if a kernel has used the heap: its size is final then.
  bool set_limit(std::uint64_t bytes) noexcept;
  // Makes the heap unused, when the context has released its memory.
  void clear() noexcept;

  // Returns nothing if the heap or the device has no room.
  std::optional<address> allocate(address_space& space, std::uint64_t bytes, int device,
                                  std::uint64_t context, std::string site);
  // Frees a block. The result names an address that is no live block.
  free_result release(address_space& space, address base, std::string site);

 private:
  std::atomic<std::uint64_t> limit_{default_bytes}, used_{0};
  std::atomic<bool> is_used_{false};
};

}  // namespace halfwarp::emulator::memory
