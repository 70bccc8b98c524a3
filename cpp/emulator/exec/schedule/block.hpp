// SPDX-License-Identifier: Apache-2.0
// Runs one thread block.
#pragma once

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

enum class block_progress : std::uint8_t {
  finished,
  paused,   // returned to let the caller count its steps
  yielded,  // may wait for another block, or has used its budget
};

// Allocates memory that blocks of a launch use in turn.
void prepare(block_state& block, launch_state& launch, range_cache* ranges);
// Starts block `number`: resets threads and barriers, fills shared and local memory.
void begin(block_state& block, std::uint64_t number);
// Runs each ready warp in turn. Throws kernel_fault.
block_progress run_round(block_state& block);

}  // namespace halfwarp::emulator::exec
