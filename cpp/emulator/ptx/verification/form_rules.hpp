// SPDX-License-Identifier: Apache-2.0
// Checks the words, types and operands of an instruction by the rules of the manual.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/instruction_table.hpp"

namespace halfwarp::emulator::ptx {

// Return a word with its dot in quotes, and the problem of a type that an instruction lacks.
std::string dotted(std::string_view word);
std::string no_type(scalar_type type);

// Returns what a form needs beyond the version and target of the module; empty: nothing.
std::string missing_of(const module& m, since first);

// Returns the first version and target of a mnemonic, for the target of the module: sm_89 got
// conversions of bytes later than sm_90.
since first_on(const module& m, const mnemonic& word);

// Return the problem of a mnemonic, or of a number of operands, by the row of the instruction
// table; empty: none.
std::string row_problem(const instruction_row& row, const mnemonic& word);
std::string count_problem(const instruction_row& row, std::size_t operands);

// Return the problem of a mnemonic, or of the operands of one instruction; empty: none. Forms that
// have no rule are accepted.
std::string word_problem(const module& m, const mnemonic& word);
std::string operand_problem(const module& m, const function& f, const instruction& i,
                            const mnemonic& word, const instruction_row& row);

}  // namespace halfwarp::emulator::ptx
