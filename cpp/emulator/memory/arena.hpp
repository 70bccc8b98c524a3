// SPDX-License-Identifier: Apache-2.0
// A contiguous range of device addresses, its memory, and its free and quarantined blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "emulator/memory/allocation.hpp"

namespace halfwarp::emulator::memory {

// Not thread-safe: guarded by the lock of the owning address space.
class arena {
 public:
  // Maps the memory file at `base` if `is_host_visible` (pinned and managed memory). Otherwise
  // `base` stays inaccessible and the file is mapped elsewhere.
  // The seed of the sizes of red zones; nothing: each has the minimum.
  arena(address base, std::uint64_t bytes, bool is_host_visible,
        std::optional<std::uint64_t> zone_seed);
  ~arena();
  arena(const arena&) = delete;  // owns a mapping
  arena& operator=(const arena&) = delete;

  // Returns the first byte of `size` bytes between red zones, or nothing if no gap is large enough.
  std::optional<address> allocate(std::uint64_t size, std::uint64_t alignment);
  // Adds a freed block to the quarantine. leave_quarantine returns the oldest block if it is full.
  struct block {
    address base;
    std::uint64_t size;
  };
  void quarantine(block freed);
  std::optional<block> leave_quarantine();

  // Maps whole pages of another file at a block; map_own_file restores the arena's own file.
  bool map_file(block target, int file, std::uint64_t offset) const noexcept;
  void map_own_file(block target) const noexcept;

  bool contains(address at) const noexcept { return at - base_ < bytes_; }
  address base() const noexcept { return base_; }
  int file() const noexcept { return file_; }
  std::uint64_t view_offset() const noexcept { return view_offset_; }
  std::byte* view(address at) const noexcept {
    return reinterpret_cast<std::byte*>(at + view_offset_);
  }
  // Returns whole pages of a block to the system; their content becomes zero.
  void discard(block unused) const noexcept;

 private:
  // Returns the bytes that a block occupies: its own bytes and the red zone after it.
  std::uint64_t footprint(block of) const noexcept;

  address base_;
  std::uint64_t bytes_;
  std::optional<std::uint64_t> zone_seed_;
  std::uint64_t view_offset_ = 0;  // from an address to its byte in this process, modulo 2^64
  int file_ = -1;
  std::map<address, std::uint64_t> gaps_;  // free ranges: begin -> bytes
  std::deque<block> quarantine_;           // oldest first
  std::uint64_t quarantined_ = 0;          // bytes
};

}  // namespace halfwarp::emulator::memory
