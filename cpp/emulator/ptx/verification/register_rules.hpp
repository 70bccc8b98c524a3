// SPDX-License-Identifier: Apache-2.0
// Checks the registers, constants and special registers of the operands of an instruction.
#pragma once

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::ptx {

// Returns whether a register of one type has the values of an operand of another. A relaxed
// operand, of a load, a store or a conversion, also has wider registers.
bool fits(scalar_type operand, scalar_type of_register, bool is_relaxed) noexcept;

// Returns whether a constant of a kind may be an operand of a type.
bool takes_constant(scalar_type operand, operand_kind constant) noexcept;

// Return a register or a constant that does not fit its operand, or null.
const operand* misfit(const function& f, const instruction& i, const mnemonic& word) noexcept;

// Return what is wrong with an operand, or null.
const char* special_problem(const mnemonic& word, const operand& o) noexcept;

}  // namespace halfwarp::emulator::ptx
