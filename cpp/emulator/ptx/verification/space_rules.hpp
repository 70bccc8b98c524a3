// SPDX-License-Identifier: Apache-2.0
// The state spaces of instructions, and of the addresses that they have.
#pragma once

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::ptx {

// Returns what is wrong with the state spaces of an instruction and of its addresses, or null.
const char* space_problem(const module& m, const function& f, const instruction& i,
                          const mnemonic& word) noexcept;

}  // namespace halfwarp::emulator::ptx
