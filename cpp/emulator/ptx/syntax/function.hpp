// SPDX-License-Identifier: Apache-2.0
// Functions and kernels.
#pragma once

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/syntax/context.hpp"

namespace halfwarp::emulator::ptx::syntax {

// Current token: .entry or .func. Appends to the module. Ends behind the body or the semicolon.
void parse_function(context& shared, linkage link);

}  // namespace halfwarp::emulator::ptx::syntax
