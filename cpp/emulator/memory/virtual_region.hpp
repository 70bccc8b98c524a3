// SPDX-License-Identifier: Apache-2.0
// Addresses that a program reserves and maps physical memory into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "emulator/memory/allocation.hpp"

namespace halfwarp::emulator::memory {

inline constexpr std::uint64_t granularity = 2u << 20;  // of reservations, mappings and memory

// Not thread-safe: the address space that owns it locks.
class virtual_region {
 public:
  // `base` lies in a range without access rights.
  virtual_region(address base, std::uint64_t bytes);
  ~virtual_region();
  virtual_region(const virtual_region&) = delete;  // owns a mapping
  virtual_region& operator=(const virtual_region&) = delete;

  bool contains(address at) const noexcept { return at - base_ < bytes_; }
  std::byte* view(address at) const noexcept {
    return reinterpret_cast<std::byte*>(at + view_offset_);
  }

  // Free addresses: at `hint` if it is one of ours and free, else the first that are aligned.
  std::optional<address> take(std::uint64_t size, std::uint64_t alignment, address hint);
  void give_back(address base, std::uint64_t size);

  // Puts pages of a file behind addresses: for devices, and where the host may reach them, for it.
  bool map(address at, std::uint64_t size, int file);
  bool show_to_host(address at, std::uint64_t size, int file, bool is_writable);
  void hide_from_host(address at, std::uint64_t size) noexcept;
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
