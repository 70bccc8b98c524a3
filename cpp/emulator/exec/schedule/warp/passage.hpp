// SPDX-License-Identifier: Apache-2.0
// Takes a warp without work from barrier to barrier.
//
// In a tree of sums, most warps only branch from one barrier to the next. Fixed values decide
// these branches, so the way is the same in each block. It is found once per frame.
#pragma once

#include "emulator/exec/decode/tuning.hpp"
#include "emulator/exec/schedule/barrier.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

// Checks for a barrier of all threads of the block with a constant number.
inline bool is_common_barrier(const instruction& instr) {
  return static_cast<barrier_operation>(instr.immediate) == barrier_operation::sync &&
         !(instr.flags & barrier_flag::has_count) && instr.operand[2] < 0;
}

// Takes the only split of a warp, which is ready and has run, through passages and reduces the
// budget by their steps. Returns true if it waits at a barrier then.
bool waits_after_passages(warp_state& w, std::uint64_t& budget);

}  // namespace halfwarp::emulator::exec
