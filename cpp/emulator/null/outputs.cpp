// SPDX-License-Identifier: Apache-2.0
// Output values of the null driver.
#include "emulator/null/outputs.hpp"

#include <sys/mman.h>

#include <atomic>

namespace halfwarp::emulator::null_driver {

namespace {

constexpr std::uintptr_t per_thread_share = std::uintptr_t{1} << 24;
constexpr std::size_t arena_bytes = std::size_t{64} << 30;

// Non-canonical addresses on x86-64 and aarch64, so an access faults at once. Hardware of aarch64
// checks only bits 48 to 55.
constinit std::atomic<std::uintptr_t> next_share{std::uintptr_t{3} << 55};
constinit std::atomic<std::size_t> arena_used{0};

// Returns the base of reserved address space; pages are committed at the first access.
std::uintptr_t arena_base() noexcept {
  static const std::uintptr_t base = [] {
    void* const mapping = mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return mapping == MAP_FAILED ? std::uintptr_t{1} << 55
                                 : reinterpret_cast<std::uintptr_t>(mapping);
  }();
  return base;
}

}  // namespace

std::uintptr_t next_handle() noexcept {
  thread_local constinit std::uintptr_t next = 0;
  if (next % per_thread_share == 0) {
    next = next_share.fetch_add(per_thread_share, std::memory_order_relaxed);
  }
  return next += 16;
}

// Addresses wrap around after 64 GiB; a larger allocation starts at the base.
std::uintptr_t next_address(std::size_t bytes) noexcept {
  const std::size_t rounded = (bytes + 511) & ~std::size_t{511};
  const std::size_t offset =
      arena_used.fetch_add(rounded ? rounded : 512, std::memory_order_relaxed) % arena_bytes;
  return arena_base() + (offset + rounded <= arena_bytes ? offset : 0);
}

}  // namespace halfwarp::emulator::null_driver
