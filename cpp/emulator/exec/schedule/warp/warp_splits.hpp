// SPDX-License-Identifier: Apache-2.0
// The splits of one warp: groups of lanes that execute together after divergence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

struct frame;

enum class split_state : std::uint8_t {
  ready,
  running,         // at most one per warp; stays in the list
  at_barrier,      // arrived at a barrier that is not open
  at_cluster,      // waits for a phase of the barrier of its cluster
  before_aligned,  // waits for the other lanes of the warp before it arrives
  at_collective,   // waits for the other members
};

// Lanes of a warp that execute together.
struct warp_split {
  std::uint32_t next = 0;  // instruction
  lane_mask lanes = 0;
  frame* top_frame = nullptr;
  split_state state = split_state::ready;
  std::uint32_t barrier = 0;
  lane_mask members = 0;  // of a collective, only lanes with a thread
};

// Splits in order of insertion. Their lanes are disjoint, so a warp has at most warp_size splits.
class warp_splits {
 public:
  warp_split* begin() noexcept { return items_.data(); }
  warp_split* end() noexcept { return items_.data() + count_; }
  const warp_split* begin() const noexcept { return items_.data(); }
  const warp_split* end() const noexcept { return items_.data() + count_; }
  std::size_t size() const noexcept { return count_; }
  warp_split& operator[](std::size_t i) noexcept { return items_[i]; }
  const warp_split& operator[](std::size_t i) const noexcept { return items_[i]; }

  void clear() noexcept { count_ = 0; }
  warp_split& add(const warp_split& f) noexcept { return items_[count_++] = f; }
  void remove(std::size_t i) noexcept {
    --count_;
    for (; i < count_; ++i) items_[i] = items_[i + 1];
  }
  warp_split extract(std::size_t i) noexcept {
    warp_split extracted = items_[i];
    remove(i);
    return extracted;
  }

 private:
  std::array<warp_split, warp_size> items_;
  std::size_t count_ = 0;
};

// Counts lanes. __builtin_popcount is a function call unless the target has the instruction.
inline std::uint32_t lanes_in(lane_mask lanes) noexcept {
  if (lanes == all_lanes) return warp_size;
  lanes -= lanes >> 1 & 0x5555'5555u;
  lanes = (lanes & 0x3333'3333u) + (lanes >> 2 & 0x3333'3333u);
  return ((lanes + (lanes >> 4)) & 0x0f0f'0f0fu) * 0x0101'0101u >> 24;
}

}  // namespace halfwarp::emulator::exec
