// SPDX-License-Identifier: Apache-2.0
// Instructions that the members of a mask execute together: shfl, vote, match, redux,
// bar.warp.sync. Operand 4 is the mask.
#pragma once

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

// Executes the instruction if all members of each lane's mask are among the lanes.
bool run_together(warp_state& w, const instruction& in, lane_mask lanes);
// The split of that index, whose `next` is a collective instruction, waits until the other
// members have come, or executes with them when they are there already.
void join_collective(warp_state& w, std::size_t index, const instruction& in);
// Some threads have exited: others that wait for them as members wait no longer.
void check_members(warp_state& w);

}  // namespace halfwarp::emulator::exec
