// SPDX-License-Identifier: Apache-2.0
// The table of PTX instructions: the forms that the emulator supports, and what each form needs.
// The decoder, the verifier and the page of the documentation use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "emulator/ptx/mnemonic.hpp"

namespace halfwarp::emulator::ptx {

// A set of qualifiers, without types and state spaces.
class words {
 public:
  constexpr words(std::initializer_list<qualifier> list) {
    for (qualifier word : list) add(word);
  }
  constexpr words operator|(const words& other) const {
    words both = *this;
    for (std::size_t i = 0; i < bits_.size(); ++i) both.bits_[i] |= other.bits_[i];
    return both;
  }
  constexpr bool has(qualifier word) const {
    auto bit = static_cast<std::size_t>(word);
    return bits_[bit / 64] >> bit % 64 & 1;
  }

 private:
  constexpr void add(qualifier word) {
    auto bit = static_cast<std::size_t>(word);
    bits_[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
  std::array<std::uint64_t, static_cast<std::size_t>(qualifier::unknown) / 64 + 1> bits_{};
};

struct count_range {
  std::uint8_t min = 0, max = 0;
  constexpr bool has(std::size_t n) const { return n >= min && n <= max; }
};

// The first version of PTX, times ten, and the first target that has a form.
struct since {
  std::uint8_t version = 10, target = 0;
};

enum class exactness : std::uint8_t {
  exact,       // the manual defines each bit of the result
  documented,  // results are within the limits of the documentation
  refused,     // the emulator does not support the form
};

// A form of an opcode. The first row of the opcode whose `form` the mnemonic contains applies.
struct instruction_row {
  opcode name;
  count_range operands, types;
  bool has_space = false;  // allows state spaces such as .global, and vectors
  words allowed{};
  since first{};
  qualifier form = qualifier::unknown;  // a word of the mnemonic; unknown: none is needed
  exactness results = exactness::exact;
};

std::span<const instruction_row> instruction_rows() noexcept;
// Returns the row of a mnemonic; null for an unknown opcode or form.
const instruction_row* find_row(const mnemonic& m) noexcept;
// Returns what the mnemonic needs: its row, and the words and types that came later.
since first_of(const mnemonic& m) noexcept;

}  // namespace halfwarp::emulator::ptx
