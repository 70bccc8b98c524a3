// SPDX-License-Identifier: Apache-2.0
// Checks the registers, state spaces and special registers of the operands of an instruction.
#pragma once

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::ptx {

// Returns whether a register of one type has the values of an operand of another. A relaxed
// operand, of a load, a store or a conversion, also has wider registers.
bool fits(scalar_type operand, scalar_type of_register, bool is_relaxed) noexcept;

// Return a register that does not fit its operand, or null.
const register_info* misfit(const function& f, const instruction& i, const mnemonic& word) noexcept;

// Return what is wrong with an operand, or null.
const char* space_problem(const module& m, const function& f, const instruction& i,
                          const mnemonic& word) noexcept;
const char* special_problem(const mnemonic& word, const operand& o) noexcept;

}  // namespace halfwarp::emulator::ptx
