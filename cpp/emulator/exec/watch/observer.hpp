// SPDX-License-Identifier: Apache-2.0
// What each thread looked at while its launch seemed to stand still.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <utility>

#include "emulator/exec/watch/access_shape.hpp"

namespace halfwarp::emulator::exec {

struct thread_id {
  std::uint64_t block = 0;  // number
  std::uint32_t warp = 0, lane = 0;
  auto operator<=>(const thread_id&) const = default;
};

// A word that a thread has read.
struct seen_word {
  std::uint64_t address = 0;
  std::uint64_t value = 0;  // when it was read last
  std::uint8_t bytes = 0;
  bool is_shared = false;
  memory_use use = memory_use::none;        // the last one
  const function_code* function = nullptr;  // ... and its instruction
  const instruction* at = nullptr;
};

struct seen_thread {
  std::map<std::uint64_t, seen_word> words;  // by cell
  lane_mask partners = 0;                    // lanes that it executed instructions with
  bool has_passed_barrier = false;
  bool may_end_by_itself = false;  // it looked at a clock, or at the active lanes
};

class observer {
 public:
  // The lanes are about to execute the instruction, whose frame is active.
  void note(warp& w, const instruction& in, lane_mask lanes);
  const seen_thread* find(const thread_id& thread) const;
  // Whether each thread of the block that can move has executed something.
  bool has_seen_all(const block_state& block) const;
  // Whether no memory has changed, as far as threads of the launch could change it.
  bool is_unchanged() const;
  // Known to have changed, or not all can be followed: nothing will come of it.
  bool is_void() const { return is_void_; }

 private:
  static constexpr std::size_t most_words = 1 << 18;

  struct seen_warp {
    lane_mask lanes = 0;
    std::array<seen_thread, warp_size> thread;
  };

  void note_access(warp& w, const instruction& in, const access_shape& shape, seen_warp& by,
                   lane_mask lanes);
  void note_word(warp& w, const instruction& in, const access_shape& shape, seen_thread& by,
                 const shared_word& word);

  std::map<std::pair<std::uint64_t, std::uint32_t>, seen_warp> warps_;  // by block, index
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t>
      written_;  // cell, bytes: first value
  std::size_t words_ = 0;
  bool is_void_ = false;  // memory has changed, or not all could be followed
};

}  // namespace halfwarp::emulator::exec
