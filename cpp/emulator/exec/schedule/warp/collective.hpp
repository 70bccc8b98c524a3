// SPDX-License-Identifier: Apache-2.0
// Instructions that the members of a mask execute together: shfl, vote, match, redux,
// bar.warp.sync. Operand 4 is the mask.
#pragma once

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

// Executes the instruction if `lanes` contains all members of each lane's mask. Returns whether it
// did.
bool run_together(warp_state& w, const instruction& instr, lane_mask lanes);
// Makes a split wait at its collective instruction until the other members arrive. Executes the
// instruction if all have arrived.
void join_collective(warp_state& w, std::size_t index, const instruction& instr);
// Call after threads have exited: removes them from the masks that other splits wait for.
void check_members(warp_state& w);

}  // namespace halfwarp::emulator::exec
