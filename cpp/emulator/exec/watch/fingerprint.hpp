// SPDX-License-Identifier: Apache-2.0
// The state of blocks as one number, to see that it has come back.
#pragma once

#include <cstdint>

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

// Of many values, of which the order counts.
class digest {
 public:
  void add(std::uint64_t value) noexcept {
    value_ = (value_ ^ value) * 0x9e37'79b9'7f4a'7c15u;
    value_ ^= value_ >> 29;
  }
  // A multiple of 64 bytes.
  void add(const lane_storage& bytes) noexcept;
  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0x243f'6a88'85a3'08d3u;
};

// Where every split is: cheap enough for every round.
void add_positions(digest& to, const block_state& block) noexcept;
// All that the threads go on from but memory that the block shares with others.
void add_contents(digest& to, const block_state& block);
// How many bytes add_contents looks at.
std::uint64_t content_bytes(const block_state& block) noexcept;

}  // namespace halfwarp::emulator::exec
