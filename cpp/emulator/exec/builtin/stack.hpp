// SPDX-License-Identifier: Apache-2.0
// The dynamic stack of a thread: alloca, stacksave and stackrestore.
#pragma once

#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

// Operands: address in local memory, size in bytes. The immediate is the alignment.
void run_alloca(warp& w, const instruction& instr);
void run_stacksave(warp& w, const instruction& instr);     // operands: result
void run_stackrestore(warp& w, const instruction& instr);  // operands: -, saved value

}  // namespace halfwarp::emulator::exec
