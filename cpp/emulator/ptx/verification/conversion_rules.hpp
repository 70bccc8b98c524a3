// SPDX-License-Identifier: Apache-2.0
// Checks the types and modifiers of conversions.
#pragma once

#include <string>

#include "emulator/ptx/mnemonic.hpp"

namespace halfwarp::emulator::ptx {

// Returns the problem of a conversion; empty: none.
std::string conversion_problem(const mnemonic& word);

}  // namespace halfwarp::emulator::ptx
