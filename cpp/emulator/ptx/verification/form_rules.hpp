// SPDX-License-Identifier: Apache-2.0
// Checks the words, types and operands of an instruction by the rules of the manual.
#pragma once

#include <span>
#include <string>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::ptx {

// Return the problem of a mnemonic, or of the operands of one instruction; empty: none. Forms that
// have no rule are accepted.
std::string word_problem(const module& m, const mnemonic& word);
std::string operand_problem(const module& m, const function& f, const instruction& i,
                            const mnemonic& word);

}  // namespace halfwarp::emulator::ptx
