// SPDX-License-Identifier: Apache-2.0
// Addresses that a program reserves for mappings of physical memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "emulator/memory/allocation.hpp"

namespace halfwarp::emulator::memory {

inline constexpr std::uint64_t granularity = 2u << 20;  // unit of reservations and mappings

// Not thread-safe: guarded by the lock of the owning address space.
class virtual_region {
 public:
  // `base` begins an inaccessible range of `bytes` bytes.
  virtual_region(address base, std::uint64_t bytes);
  ~virtual_region();
  virtual_region(const virtual_region&) = delete;  // owns a mapping
  virtual_region& operator=(const virtual_region&) = delete;

  bool contains(address at) const noexcept { return at - base_ < bytes_; }
  std::byte* view(address at) const noexcept {
    return reinterpret_cast<std::byte*>(at + view_offset_);
  }

  // Reserves addresses at `hint` if it is free, else the first aligned gap.
  std::optional<address> allocate(std::uint64_t size, std::uint64_t alignment, address hint);
  void deallocate(address base, std::uint64_t size);

  // Maps pages of a file in the view of devices and, with host access, at the address itself.
  bool map(address at, std::uint64_t size, int file);
  bool map_to_host(address at, std::uint64_t size, int file, bool is_writable);
  void unmap_from_host(address at, std::uint64_t size) noexcept;
  void unmap(address at, std::uint64_t size) noexcept;

 private:
  using gap_map = std::map<address, std::uint64_t>;

  address cut(gap_map::iterator gap, address from, std::uint64_t size);

  address base_;
  std::uint64_t bytes_;
  std::uint64_t view_offset_ = 0;  // from an address to its byte in this process, modulo 2^64
  gap_map gaps_;                   // free ranges: begin -> bytes
};

}  // namespace halfwarp::emulator::memory
