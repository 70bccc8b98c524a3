// SPDX-License-Identifier: Apache-2.0
// The modifiers that an instruction needs, and the number of operands that its modifiers imply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/instruction_table.hpp"

namespace halfwarp::emulator::ptx {

// Returns the names of modifiers, separated by commas.
std::string names_of(const words& set);

// Returns which modifiers are absent in a version of PTX, times ten; empty: none.
std::string needed_problem(const mnemonic& word, std::uint32_t version);

// Returns the only possible number of operands on a target; nothing: the instruction table decides.
std::optional<std::size_t> count_of_operands(const mnemonic& word);

}  // namespace halfwarp::emulator::ptx
