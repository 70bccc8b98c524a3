// SPDX-License-Identifier: Apache-2.0
// Parses functions and kernels.
#pragma once

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/syntax/context.hpp"

namespace halfwarp::emulator::ptx::syntax {

// Parses from .entry or .func to the end of the body or the semicolon. Appends to the module.
void parse_function(context& shared, linkage link);

}  // namespace halfwarp::emulator::ptx::syntax
