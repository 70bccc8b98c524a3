// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

// Calls `visit` with the number of each lane of a mask.
template <class Visit>
void for_each_lane(lane_mask lanes, Visit&& visit) {
  for (; lanes; lanes &= lanes - 1) visit(std::countr_zero(lanes));
}

}  // namespace halfwarp::emulator::exec
