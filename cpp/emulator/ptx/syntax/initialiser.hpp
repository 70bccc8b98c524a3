// SPDX-License-Identifier: Apache-2.0
// The part of a variable's declaration behind the equals sign.
#pragma once

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/syntax/cursor.hpp"

namespace halfwarp::emulator::ptx::syntax {

// Fills v.initialiser, and the size of a variable declared with [].
void parse_initialiser(cursor& at, variable& v);

}  // namespace halfwarp::emulator::ptx::syntax
