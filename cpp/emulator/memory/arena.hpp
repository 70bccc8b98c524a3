// SPDX-License-Identifier: Apache-2.0
// A contiguous range of device addresses, the memory behind it, and which parts are free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "emulator/memory/allocation.hpp"

namespace halfwarp::emulator::memory {

// Not thread-safe: the address space that owns it locks.
class arena {
 public:
  // The memory file is mapped at `base` itself (pinned and managed memory) when `is_host_visible`;
  // else `base` stays without access rights and the file is mapped elsewhere.
  arena(address base, std::uint64_t bytes, bool is_host_visible);
  ~arena();
  arena(const arena&) = delete;  // owns a mapping
  arena& operator=(const arena&) = delete;

  // First byte of `size` bytes with a red zone on either side; nothing when no gap is that large.
  std::optional<address> take(std::uint64_t size, std::uint64_t alignment);
  // Remembers a freed block. Returns the block whose quarantine ends in exchange, if any does.
  struct block {
    address base;
    std::uint64_t size;
  };
  void quarantine(block freed);
  std::optional<block> leave_quarantine();

  // Puts whole pages of another file behind a block, or our own again.
  bool show(block where, int file, std::uint64_t offset) const noexcept;
  void show_own(block where) const noexcept;

  bool contains(address at) const noexcept { return at - base_ < bytes_; }
  address base() const noexcept { return base_; }
  int file() const noexcept { return file_; }
  std::uint64_t view_offset() const noexcept { return view_offset_; }
  std::byte* view(address at) const noexcept {
    return reinterpret_cast<std::byte*>(at + view_offset_);
  }
  // Gives whole pages of a block back to the system; their content becomes zero.
  void discard(block unused) const noexcept;

 private:
  address base_;
  std::uint64_t bytes_;
  std::uint64_t view_offset_ = 0;  // from an address to its byte in this process, modulo 2^64
  int file_ = -1;
  std::map<address, std::uint64_t> gaps_;  // free ranges: begin -> bytes
  std::deque<block> quarantine_;           // oldest first
  std::uint64_t quarantined_ = 0;          // bytes
};

}  // namespace halfwarp::emulator::memory
