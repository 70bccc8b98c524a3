// SPDX-License-Identifier: Apache-2.0
// Checks the words, types and operands of an instruction by the rules of the manual.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/instruction_table.hpp"

namespace halfwarp::emulator::ptx {

// Returns what a form needs beyond the version and target of the module; empty: nothing.
std::string missing_of(const module& m, since first);

// Return the problem of a mnemonic, or of a number of operands, by the row of the instruction
// table; empty: none.
std::string row_problem(const instruction_row& row, const mnemonic& word);
std::string count_problem(const instruction_row& row, std::size_t operands);

// Return the problem of a mnemonic, or of the operands of one instruction; empty: none. Forms that
// have no rule are accepted.
std::string word_problem(const module& m, const mnemonic& word);
std::string operand_problem(const module& m, const function& f, const instruction& i,
                            const mnemonic& word);

}  // namespace halfwarp::emulator::ptx
