// SPDX-License-Identifier: Apache-2.0
// Names that could not be known where they were read.
#pragma once

#include "emulator/ptx/syntax/context.hpp"

namespace halfwarp::emulator::ptx::syntax {

// Leads aliases to their functions, then fills in what operands, lists and initialisers name.
// A name that the module does not have stays symbol_kind::unresolved.
void resolve(context& shared);

}  // namespace halfwarp::emulator::ptx::syntax
