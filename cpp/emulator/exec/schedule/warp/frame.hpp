// SPDX-License-Identifier: Apache-2.0
// Enters and leaves functions of a kernel.
#pragma once

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

// Returns a frame for a function. A reused frame contains the registers of its last user, a new
// frame zeros.
frame* make_frame(warp_state& w, const function_code& function);
// Returns a frame for the kernel of a block that starts.
frame* make_entry_frame(warp_state& w, const function_code& function);
// Releases one use of a frame by a split or a called frame. The warp reuses unused frames.
void release_frame(warp_state& w, frame* released);
// Returns all frames to the warp after a fault ended the block.
void reclaim_frames(warp_state& w);
// Returns the end of a frame in local memory, with the memory of alloca.
std::uint32_t stack_end(const frame& f);
// Sets the frame that handlers access.
void change_frame(warp& view, frame& f);
inline void activate(warp& view, frame& f) {
  if (view.current != &f) change_frame(view, f);
}

// Returns the callee of `instr`. For an indirect call, returns the callee of the lowest lane and
// reduces `lanes` to the lanes with that callee.
const function_code& callee_of(warp_state& w, const warp_split& caller, const instruction& instr,
                               lane_mask& lanes);
// Enters the function with the lanes of `caller`, which becomes a split of the callee.
void enter_function(warp_state& w, warp_split& caller, const instruction& instr,
                    const function_code& callee);
// Returns the split to the instruction after its call. The depth must not be 0.
void leave_function(warp_state& w, warp_split& f);

}  // namespace halfwarp::emulator::exec
