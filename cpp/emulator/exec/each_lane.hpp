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

// Stores the values of the lanes of a mask.
template <class T, class Value>
void store_lanes(lane_mask lanes, T* to, const Value* values) {
  if (lanes == all_lanes) {
    for (int l = 0; l < warp_size; ++l) to[l] = static_cast<T>(values[l]);
  } else {
    for_each_lane(lanes, [=](int l) { to[l] = static_cast<T>(values[l]); });
  }
}

}  // namespace halfwarp::emulator::exec
