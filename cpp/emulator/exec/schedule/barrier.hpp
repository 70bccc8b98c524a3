// SPDX-License-Identifier: Apache-2.0
// Barriers of a thread block.
#pragma once

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

// The immediate of a barrier instruction. Operands: 0 result (register or predicate), 1 source
// predicate, 2 barrier id, 3 thread count.
enum class barrier_operation : std::int64_t {
  sync,
  arrive,
  red_popc,
  red_and,
  red_or,
  cluster_arrive,
  cluster_wait,
};

namespace barrier_flag {
inline constexpr std::uint16_t aligned = 1, has_count = 2, negated_source = 4;
}

// Makes a split arrive at the barrier instruction that it executes next. Its frame must be active.
void arrive(warp_state& w, std::size_t index, const instruction& instr);
// Makes the only split of a warp arrive at a barrier of all threads, in a run that nothing follows.
// Returns true if the barrier opened.
bool arrive_together(warp_state& w, const instruction& instr);
// Makes a split arrive that waits at an aligned barrier for the other lanes of its warp.
void arrive_without_warp(warp_state& w, std::size_t index);
// Call after threads have exited. Completes the collectives and barriers that waited for them.
void update_after_exit(warp_state& w, lane_mask lanes);

}  // namespace halfwarp::emulator::exec
