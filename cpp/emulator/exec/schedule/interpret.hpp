// SPDX-License-Identifier: Apache-2.0
// Running one warp.
#pragma once

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

enum class warp_progress : std::uint8_t {
  finished,  // every thread has exited
  waiting,   // no split is ready
  yielded,   // used up its budget, or asked to give way
};

// Runs ready splits until there is none, or for about `budget` warp instructions.
warp_progress run_warp(warp_state& w, std::uint64_t budget);

// Adds a ready split, merging it with one of equal position and frame. The caller has counted
// it as a user of its frame.
void add_ready(warp_state& w, const warp_split& f);
// The split of that index is ready where it is now; it may merge with another, which removes it.
// True when it did.
bool make_ready(warp_state& w, std::size_t index);

}  // namespace halfwarp::emulator::exec
