// SPDX-License-Identifier: Apache-2.0
// Entering and leaving functions.
#pragma once

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

// A frame of the warp for a function; its registers hold what the last user left, at first zero.
frame* make_frame(warp_state& w, const function_code& function);
// One split, or one called frame, has left it; unused frames go back to the warp.
void drop_frame(warp_state& w, frame* left);
// Takes back the frames of a block that ended by a fault.
void reclaim_frames(warp_state& w);
// Makes the frame the one that handlers see.
void activate(warp& view, frame& f);

// What `in` calls. Of an indirect call the function of the lowest lane; `lanes` are then only those
// that call it too.
const function_code& callee_of(warp_state& w, const warp_split& caller, const instruction& in,
                               lane_mask& lanes);
// The lanes of `caller` enter the function; the split becomes one of the callee.
void enter_function(warp_state& w, warp_split& caller, const instruction& in,
                    const function_code& callee);
// The split goes on behind the call that entered its frame. Depth must not be 0.
void leave_function(warp_state& w, warp_split& f);

}  // namespace halfwarp::emulator::exec
