// SPDX-License-Identifier: Apache-2.0
// Prints an abstract syntax tree as PTX text.
#pragma once

#include <string>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::ptx {

// Prints a module. Parsing the result returns an equal module, except for lines, columns and string
// views. Omits debug sections and comments, and evaluates constant expressions and initializers.
std::string print(const module& m);

// Prints a module without the three directives at its head.
std::string print_items(const module& m);

// Prints one instruction without the semicolon: "@%p1 bra $L__BB0_2".
std::string print(const module& m, const function& f, const instruction& i);

}  // namespace halfwarp::emulator::ptx
