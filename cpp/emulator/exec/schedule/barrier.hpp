// SPDX-License-Identifier: Apache-2.0
// Barriers of a block.
#pragma once

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

// The immediate of a barrier instruction. Operands: 0 result (register or predicate), 1 source
// predicate, 2 barrier id, 3 thread count.
enum class barrier_operation : std::int64_t { sync, arrive, red_popc, red_and, red_or };

namespace barrier_flag {
inline constexpr std::uint16_t aligned = 1, has_count = 2, negated_source = 4;
}

// The split of that index, whose `next` is a barrier instruction, arrives. Its frame is active.
void arrive(warp_state& w, std::size_t index, const instruction& in);
// The split of that index, which has waited for its warp before an aligned barrier, arrives.
void arrive_in_part(warp_state& w, std::size_t index);
// Some threads have exited: what waited for them may go on.
void threads_exited(warp_state& w);

}  // namespace halfwarp::emulator::exec
