// SPDX-License-Identifier: Apache-2.0
// Compares two modules regardless of their text layout.
#pragma once

#include <string>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::tests {

// Returns the first difference, such as "function 2: operand 7"; empty if the modules are equal.
// Ignores lines, columns and the exact text of instructions.
std::string first_difference(const emulator::ptx::module& a, const emulator::ptx::module& b);

}  // namespace halfwarp::tests
