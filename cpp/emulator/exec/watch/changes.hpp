// SPDX-License-Identifier: Apache-2.0
// Records the last compare-and-swap or exchange of a word. If the word is a lock, the thread that
// changed it is the holder.
#pragma once

#include <array>
#include <cstdint>

#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

// A word that a handler has changed.
struct changed_word {
  std::uint64_t cell = 0;  // host address, also for shared memory
  std::uint64_t before = 0, after = 0;
  std::uint8_t bytes = 0;
  bool is_cas = false;
};

struct change {
  changed_word word;
  std::uint64_t block = 0;                  // number of the block
  std::uint32_t warp = 0, lane = 0;         // the thread
  const function_code* function = nullptr;  // ... and its instruction
  const instruction* at = nullptr;
  std::uint64_t sequence = 0;  // number of changes up to this one; 0: empty entry
};

// A hash table with one entry per hash, so a change may overwrite that of another word. The watch
// then does not recognize the lock, and its cycle ends at the step limit.
class change_table {
 public:
  void record(std::uint64_t key, const change& value) noexcept {
    change& entry = entries_[index_of(key)];
    entry = value;
    entry.sequence = ++count_;
  }
  const change* find(std::uint64_t key, std::uint64_t cell) const noexcept {
    const change& entry = entries_[index_of(key)];
    return entry.sequence && entry.word.cell == cell ? &entry : nullptr;
  }
  std::uint64_t count() const noexcept { return count_; }

 private:
  static constexpr int index_bits = 10;
  static std::size_t index_of(std::uint64_t key) noexcept {
    return key * 0x9e37'79b9'7f4a'7c15u >> (64 - index_bits);
  }

  std::array<change, 1 << index_bits> entries_{};
  std::uint64_t count_ = 0;
};

// Records a change by a lane, before the instruction writes its result. Requires
// warp::records_changes.
void record_change(warp& w, const instruction& instr, int lane, const changed_word& word);
// Returns the last recorded change of the word that threads of the block access at `cell`, or null.
const change* last_change(const block_state& block, std::uint64_t cell);

}  // namespace halfwarp::emulator::exec
