// SPDX-License-Identifier: Apache-2.0
// Checks the types and words of accesses to memory, of products of matrices, votes and barriers.
#pragma once

#include <string>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::ptx {

// Returns the problem of a mnemonic; empty: none.
std::string access_problem(const module& m, const mnemonic& word);

}  // namespace halfwarp::emulator::ptx
