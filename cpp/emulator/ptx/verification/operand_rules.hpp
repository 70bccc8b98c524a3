// SPDX-License-Identifier: Apache-2.0
// Checks of what each operand of an instruction is, where a table names it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/instruction_table.hpp"

namespace halfwarp::emulator::ptx {

// Return the first problem of the operands, or of those that are constants; empty: none. Without
// a row of the table, operands have the kinds `otherwise`.
std::string kind_problem(const function& f, std::span<const operand> operands, const mnemonic& word,
                         std::string_view otherwise);
std::string constant_problem(std::span<const operand> operands, const mnemonic& word);

// Returns the version and the target that the number of operands of a form needs.
since first_of_operands(const function& f, std::span<const operand> operands,
                        const mnemonic& word) noexcept;

}  // namespace halfwarp::emulator::ptx
