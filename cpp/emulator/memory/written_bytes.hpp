// SPDX-License-Identifier: Apache-2.0
// Records the bits of device memory that the program has written, with one byte for each byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "emulator/memory/allocation.hpp"

namespace halfwarp::emulator::memory {

// The state of a byte has a one for each written bit.
inline constexpr std::byte written{0xff}, unwritten{0};

// Returns whether all bytes with these states are written.
inline bool is_written(const std::byte* states, std::uint32_t bytes) {
  using words [[gnu::vector_size(16)]] = std::uint64_t;
  words low = ~words{}, high = low, part{};
  for (; bytes >= 2 * sizeof(part); bytes -= 2 * sizeof(part), states += 2 * sizeof(part)) {
    std::memcpy(&part, states, sizeof(part));
    low &= part;
    std::memcpy(&part, states + sizeof(part), sizeof(part));
    high &= part;
  }
  low &= high;
  std::uint64_t all = low[0] & low[1];
  const auto read = [&](auto part) {
    std::memcpy(&part, states, sizeof(part));
    states += sizeof(part);
    bytes -= sizeof(part);
    all &= part | ~std::uint64_t{static_cast<decltype(part)>(~decltype(part){0})};
  };
  while (bytes >= 8) read(std::uint64_t{});
  if (bytes >= 4) read(std::uint32_t{});
  while (bytes) read(std::uint8_t{});
  return all == ~std::uint64_t{0};
}

// The state of a fixed range of addresses. Threads may set different bytes at the same time.
class written_bytes {
 public:
  // Reserves addresses. Pages exist from their first access and begin as unwritten.
  written_bytes(address first, std::uint64_t bytes);
  ~written_bytes();
  written_bytes(const written_bytes&) = delete;  // owns a mapping
  written_bytes& operator=(const written_bytes&) = delete;

  bool contains(address at) const noexcept { return at - first_ < bytes_; }
  // Returns the state of the byte at an address, or null outside of the range. The states of
  // neighbors are adjacent.
  std::byte* at(address byte) const noexcept {
    return contains(byte) ? states_ + (byte - first_) : nullptr;
  }
  void mark(address first, std::uint64_t bytes, std::byte state) const noexcept;
  // Copies states. Bytes outside of the range count as written.
  void copy(address to, address from, std::uint64_t bytes) const noexcept;
  // A run of bytes with unwritten bits.
  struct run {
    std::uint64_t offset = 0, bytes = 0;
  };
  // Returns the first `limit` runs of a range.
  std::vector<run> unwritten_runs(address first, std::uint64_t bytes, std::size_t limit) const;

 private:
  address first_;
  std::uint64_t bytes_;
  std::byte* states_ = nullptr;
};

}  // namespace halfwarp::emulator::memory
