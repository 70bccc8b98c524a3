// SPDX-License-Identifier: Apache-2.0
// Parses the part of a variable declaration after the equals sign.
#pragma once

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/syntax/cursor.hpp"

namespace halfwarp::emulator::ptx::syntax {

// Sets v.initializer, and the size of a variable declared with [].
void parse_initializer(cursor& at, variable& v);

}  // namespace halfwarp::emulator::ptx::syntax
