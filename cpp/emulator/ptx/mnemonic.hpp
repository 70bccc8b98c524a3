// SPDX-License-Identifier: Apache-2.0
// A parsed mnemonic such as "ld.global.nc.v4.f32". Each is parsed once per module.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "emulator/ptx/vocabulary/opcode.hpp"
#include "emulator/ptx/vocabulary/qualifier.hpp"
#include "emulator/ptx/vocabulary/types.hpp"

namespace halfwarp::emulator::ptx {

struct mnemonic {
  static constexpr std::size_t max_types = 6, max_spaces = 3, max_qualifiers = 16;

  std::string_view text;  // full spelling with dots
  ptx::opcode opcode = opcode::unknown;
  // A word is unknown, or a list below is full: the instruction is not executable.
  bool has_unknown_word = false;
  std::uint8_t vector_width = 1;  // .v2, .v4, .v8
  std::uint8_t type_count = 0, space_count = 0, qualifier_count = 0;
  std::uint16_t columns = 0, depth = 0;  // N and K of .m64nNkK; 0: no such shape
  std::array<scalar_type, max_types> type_list{};
  std::array<state_space, max_spaces> space_list{};
  std::array<ptx::qualifier, max_qualifiers> qualifier_list{};
  std::bitset<static_cast<std::size_t>(qualifier::unknown)> qualifier_set;

  bool has(ptx::qualifier word) const noexcept {
    return word != qualifier::unknown && qualifier_set[static_cast<std::size_t>(word)];
  }
  // Returns the n-th type in text order, or none.
  scalar_type type(std::size_t n = 0) const noexcept {
    return n < type_count ? type_list[n] : scalar_type::none;
  }
  // Returns the n-th state space, or generic.
  state_space space(std::size_t n = 0) const noexcept {
    return n < space_count ? space_list[n] : state_space::generic;
  }
  std::span<const scalar_type> types() const noexcept { return {type_list.data(), type_count}; }
  std::span<const ptx::qualifier> qualifiers() const noexcept {
    return {qualifier_list.data(), qualifier_count};
  }
};

// Parses a mnemonic and never fails. An unknown name results in opcode::unknown, an unknown dotted
// word in has_unknown_word. The result borrows `text`.
mnemonic make_mnemonic(std::string_view text) noexcept;

}  // namespace halfwarp::emulator::ptx
