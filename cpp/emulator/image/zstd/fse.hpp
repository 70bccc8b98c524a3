// SPDX-License-Identifier: Apache-2.0
// Finite state entropy: tables whose states stand for symbols.
#pragma once

#include <span>
#include <vector>

#include "emulator/image/zstd/bits.hpp"

namespace halfwarp::emulator::image::zstd {

class fse_table {
 public:
  struct state {
    std::uint8_t symbol = 0;
    std::uint8_t bits = 0;  // that select the next state
    std::uint16_t base = 0;
  };

  fse_table() = default;
  // A probability of -1 means less than one state in the table.
  fse_table(std::span<const std::int16_t> probabilities, unsigned accuracy);
  // A table of one symbol, which reads no bits.
  explicit fse_table(std::uint8_t symbol) : states_{{symbol, 0, 0}} {}

  bool is_empty() const noexcept { return states_.empty(); }
  unsigned accuracy() const noexcept { return accuracy_; }
  const state& operator[](std::uint64_t index) const noexcept { return states_[index]; }

 private:
  std::vector<state> states_;
  unsigned accuracy_ = 0;
};

// Reads the description of a table, and removes it from the data.
fse_table read_fse_table(bytes& data, unsigned max_accuracy, unsigned max_symbol);

// A position in a table.
class fse_state {
 public:
  fse_state(const fse_table& table, backward_bits& source)
      : table_{&table}, index_{source.read(table.accuracy())} {}

  std::uint8_t symbol() const noexcept { return (*table_)[index_].symbol; }
  void advance(backward_bits& source) noexcept {
    const auto& current = (*table_)[index_];
    index_ = current.base + source.read(current.bits);
  }

 private:
  const fse_table* table_;
  std::uint64_t index_;
};

}  // namespace halfwarp::emulator::image::zstd
