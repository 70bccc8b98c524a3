// SPDX-License-Identifier: Apache-2.0
// Records the words that threads read while their launch makes no progress.
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
  std::uint64_t value = 0;  // of the last read
  std::uint8_t bytes = 0;
  bool is_shared = false;
  memory_use use = memory_use::none;        // of the last read
  const function_code* function = nullptr;  // ... and the instruction
  const instruction* at = nullptr;
};

struct seen_thread {
  std::map<std::uint64_t, seen_word> words;  // by cell
  lane_mask partners = 0;                    // lanes of its collective instructions
  bool has_passed_barrier = false;
  bool may_end_by_itself = false;  // reads a clock, or the active lanes
};

class observer {
 public:
  // Call before lanes execute an instruction. Its frame must be active.
  void record(warp& w, const instruction& instr, lane_mask lanes);
  const seen_thread* find(const thread_id& thread) const;
  // Checks whether each ready thread of the block has executed an instruction.
  bool has_observed_all(const block_state& block) const;
  // Checks whether all words that the launch has written have their first values.
  bool is_unchanged() const;
  // True if memory has changed or an access cannot be tracked, so that the observation is useless.
  bool is_void() const { return is_void_; }

 private:
  static constexpr std::size_t max_words = 1 << 18;

  struct seen_warp {
    lane_mask lanes = 0;
    std::array<seen_thread, warp_size> thread;
  };

  void record_access(warp& w, const instruction& instr, const access_shape& shape, seen_warp& by,
                     lane_mask lanes);
  void record_word(warp& w, const instruction& instr, const access_shape& shape, seen_thread& by,
                   const shared_word& word);

  std::map<std::pair<std::uint64_t, std::uint32_t>, seen_warp> warps_;  // by block, index
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t>
      written_;  // cell, bytes: first value
  std::size_t words_ = 0;
  bool is_void_ = false;  // memory has changed, or an access cannot be tracked
};

}  // namespace halfwarp::emulator::exec
