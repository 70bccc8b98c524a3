// SPDX-License-Identifier: Apache-2.0
// The words of a mnemonic that exclude each other, and their order.
#pragma once

#include <string>

#include "emulator/ptx/mnemonic.hpp"

namespace halfwarp::emulator::ptx {

// Returns what is wrong with two words of a mnemonic, or nothing.
std::string conflict_problem(const mnemonic& word);

}  // namespace halfwarp::emulator::ptx
