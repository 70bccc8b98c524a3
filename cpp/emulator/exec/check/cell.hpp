// SPDX-License-Identifier: Apache-2.0
// A cell of the race check: who accessed a word last, and with which instruction.
#pragma once

#include <algorithm>
#include <cstdint>

namespace halfwarp::emulator::exec::race {

// The threads that an access or a fence is meant for; weak: none, the access is plain.
enum class scope : std::uint8_t { weak, cta, gpu, sys };

// Selects the meaning of the other fields of a cell.
enum class cell_kind : std::uint8_t {
  one,       // a thread or a warp
  of_block,  // readers of several warps of a block; the newest segment counts
  of_grid,   // readers of several blocks
  set,       // readers in a list, see `reader_sets`
  split,     // the word has a cell per byte
  run,       // a line: neighboring words belong to neighboring lanes
  words,     // a line: each word has a cell
};

// Instead of a lane: a half of the warp, or several lanes.
inline constexpr std::uint32_t low_half = 32, high_half = 33, many_lanes = 63;
// Returns the lanes that the field names.
constexpr std::uint32_t lanes_named(std::uint32_t lane) {
  if (lane < low_half) return 1u << lane;
  return lane == low_half ? 0x0000'ffffu : lane == high_half ? 0xffff'0000u : 0xffff'ffffu;
}
// The index of an instruction in the launch; the highest one stands for all above.
inline constexpr std::uint32_t max_site = (1u << 21) - 1;

// Zero: nobody accessed the word. A segment is the code that one warp executes between two
// synchronizations; numbers of segments only grow.
class cell {
 public:
  constexpr cell() = default;
  constexpr cell(std::uint32_t segment, cell_kind kind, scope s, std::uint32_t lane,
                 std::uint32_t site)
      : bits_{std::uint64_t{segment} << 32 | std::uint64_t{static_cast<std::uint8_t>(kind)} << 29 |
              std::uint64_t{static_cast<std::uint8_t>(s)} << 27 | std::uint64_t{lane} << 21 |
              std::min(site, max_site)} {}

  constexpr std::uint32_t segment() const { return static_cast<std::uint32_t>(bits_ >> 32); }
  constexpr cell_kind kind() const { return static_cast<cell_kind>(bits_ >> 29 & 7); }
  constexpr scope access_scope() const { return static_cast<scope>(bits_ >> 27 & 3); }
  constexpr std::uint32_t lane() const { return bits_ >> 21 & 63; }
  constexpr std::uint32_t site() const { return bits_ & max_site; }
  // A cell of kind `set`: the index of its newest node, in the bits of lane and site.
  constexpr std::uint32_t node() const { return bits_ & ((1u << 27) - 1); }

  constexpr cell with_lane(std::uint32_t lane) const {
    return with(std::uint64_t{63} << 21, std::uint64_t{lane} << 21);
  }
  constexpr cell with_site(std::uint32_t site) const {
    return with(max_site, std::min(site, max_site));
  }
  // Returns the cell of word `index` of a line, whose cell this is.
  constexpr cell of_word(std::uint32_t index) const {
    if (kind() != cell_kind::run) return *this;
    return cell{segment(), cell_kind::one, access_scope(), lane() + index, site()};
  }
  constexpr cell as_run() const {
    return with(std::uint64_t{7} << 29,
                std::uint64_t{static_cast<std::uint8_t>(cell_kind::run)} << 29);
  }
  static constexpr cell of_set(std::uint32_t segment, scope s, std::uint32_t node) {
    cell result{segment, cell_kind::set, s, 0, 0};
    result.bits_ |= node;
    return result;
  }
  // Compares all but the site.
  constexpr bool is_same_access(cell other) const {
    return (bits_ | max_site) == (other.bits_ | max_site);
  }
  constexpr std::uint64_t bits() const { return bits_; }
  friend constexpr bool operator==(cell, cell) = default;

 private:
  constexpr cell with(std::uint64_t mask, std::uint64_t bits) const {
    cell result;
    result.bits_ = (bits_ & ~mask) | bits;
    return result;
  }

  std::uint64_t bits_ = 0;
};

}  // namespace halfwarp::emulator::exec::race
