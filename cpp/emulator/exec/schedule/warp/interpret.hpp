// SPDX-License-Identifier: Apache-2.0
// Runs one warp.
#pragma once

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

enum class warp_progress : std::uint8_t {
  finished,  // every thread has exited
  waiting,   // no split is ready
  yielded,   // used its budget, or executed a yield
};

// Runs ready splits until none is ready, or for about `budget` warp instructions.
warp_progress run_warp(warp_state& w, std::uint64_t budget);

// Adds a ready split, merging it with a split at the same position and frame. The caller must have
// counted it as a user of its frame.
void add_ready(warp_state& w, const warp_split& f);
// Marks a split ready at its position. Returns true if it was merged with another split and
// removed.
bool make_ready(warp_state& w, std::size_t index);

}  // namespace halfwarp::emulator::exec
