// SPDX-License-Identifier: Apache-2.0
// Running one block.
#pragma once

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

enum class block_progress : std::uint8_t {
  finished,
  paused,   // only so that its steps are counted
  yielded,  // waits for what another block may do, or had its share
};

// Memory for blocks of a launch, used for one block after another.
void prepare(block_state& block, launch_state& launch, range_cache* ranges);
// Begins block `number`: threads at the entry, barriers empty, fresh shared and local memory.
void begin(block_state& block, std::uint64_t number);
// Runs every warp that can move once. Throws kernel_fault.
block_progress run_round(block_state& block);

}  // namespace halfwarp::emulator::exec
