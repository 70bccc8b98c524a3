// SPDX-License-Identifier: Apache-2.0
// Who last changed a word by a compare-and-swap or an exchange: the holder, if the word is a lock.
#pragma once

#include <array>
#include <cstdint>

#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

// A word that a handler has changed.
struct changed_word {
  std::uint64_t cell = 0;  // its place in this process, for shared memory too
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
  std::uint64_t sequence = 0;  // how many changes there were, with this one; 0: no change
};

// One place for each remainder of a key, so a change may push out that of another word: a lock is
// then not known as one, and its cycle is found as a loop without end.
class change_table {
 public:
  void note(std::uint64_t key, const change& made) noexcept {
    change& kept = places_[place_of(key)];
    kept = made;
    kept.sequence = ++count_;
  }
  const change* find(std::uint64_t key, std::uint64_t cell) const noexcept {
    const change& kept = places_[place_of(key)];
    return kept.sequence && kept.word.cell == cell ? &kept : nullptr;
  }
  std::uint64_t count() const noexcept { return count_; }

 private:
  static constexpr int place_bits = 10;
  static std::size_t place_of(std::uint64_t key) noexcept {
    return key * 0x9e37'79b9'7f4a'7c15u >> (64 - place_bits);
  }

  std::array<change, 1 << place_bits> places_{};
  std::uint64_t count_ = 0;
};

// Of a lane of the warp, before the instruction writes its result. Only where warp::notes_changes.
void note_change(warp& w, const instruction& in, int lane, const changed_word& word);
// The last change of a word that threads of the block see at that cell; null: none is known.
const change* last_change(const block_state& block, std::uint64_t cell);

}  // namespace halfwarp::emulator::exec
