// SPDX-License-Identifier: Apache-2.0
// AST to PTX text.
#pragma once

#include <string>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::ptx {

// Parsing the result gives an equal module, apart from lines, columns and the views of the text.
// Debug sections and comments are gone, constant expressions and initialisers are evaluated.
std::string print(const module& m);

// What follows the three directives at the head of a module.
std::string print_items(const module& m);

// One instruction on one line, without the semicolon: "@%p1 bra $L__BB0_2".
std::string print(const module& m, const function& f, const instruction& i);

}  // namespace halfwarp::emulator::ptx
