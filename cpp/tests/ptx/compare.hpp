// SPDX-License-Identifier: Apache-2.0
// Whether two modules say the same, whatever their layout as text.
#pragma once

#include <string>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::tests {

// Where the modules first differ, such as "function 2: operand 7"; empty when they are equal.
// Lines, columns and the exact text of instructions are not compared.
std::string first_difference(const emulator::ptx::module& a, const emulator::ptx::module& b);

}  // namespace halfwarp::tests
