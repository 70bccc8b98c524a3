// SPDX-License-Identifier: Apache-2.0
// State shared by the parts of the parser for one module.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/syntax/cursor.hpp"

namespace halfwarp::emulator::ptx::syntax {

// An operand, or an element of a target list, whose name its function does not declare.
struct unresolved_name {
  std::uint32_t function = 0;
  std::uint32_t operand = no_index;  // function::operands
  std::uint32_t list = no_index;     // function::target_lists, with element
  std::uint32_t element = 0;
};

struct context {
  cursor at;
  module& out;
  std::vector<unresolved_name> unresolved_names;
  std::unordered_map<std::string_view, std::uint32_t> mnemonic_ids;

  std::uint32_t intern(std::string_view spelling) {
    const auto [place, is_new] =
        mnemonic_ids.try_emplace(spelling, static_cast<std::uint32_t>(out.mnemonics.size()));
    if (is_new) out.mnemonics.push_back(make_mnemonic(spelling));
    return place->second;
  }
};

// Resolves aliases, then the symbols of operands, target lists and initializers. Unknown names
// remain symbol_kind::unresolved.
void resolve(context& shared);

}  // namespace halfwarp::emulator::ptx::syntax
