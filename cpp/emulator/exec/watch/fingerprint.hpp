// SPDX-License-Identifier: Apache-2.0
// Hashes the state of blocks, to detect that a state recurs.
#pragma once

#include <cstdint>

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

// An order-dependent hash of a sequence of values.
class digest {
 public:
  void add(std::uint64_t value) noexcept {
    value_ = (value_ ^ value) * 0x9e37'79b9'7f4a'7c15u;
    value_ ^= value_ >> 29;
  }
  // The size must be a multiple of 64 bytes.
  void add(const lane_storage& bytes) noexcept;
  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0x243f'6a88'85a3'08d3u;
};

// Adds the position of every split. Cheap enough for every round.
void add_positions(digest& to, const block_state& block) noexcept;
// Adds the state of the threads, except memory that the block shares with other blocks.
void add_contents(digest& to, const block_state& block);
// Returns the number of bytes that add_contents reads.
std::uint64_t content_bytes(const block_state& block) noexcept;

}  // namespace halfwarp::emulator::exec
