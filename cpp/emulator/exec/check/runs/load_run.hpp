// SPDX-License-Identifier: Apache-2.0
// Loads of a basic block that the checks see at once, before the first of them runs.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

// A load at a fixed distance from an earlier access.
struct following_load {
  std::uint32_t site = 0, distance = 0;
};

// Loads with one shape, in their order.
struct load_group {
  std::uint8_t shape = 0;                 // index in warp::shapes
  std::uint32_t nearest = 0, extent = 0;  // the least distance, and the bytes of a lane from there
  bool is_shared = false;                 // shared memory of a block without a cluster
  std::vector<following_load> loads;
  // In this phase of a block and after these stores, the loads at these addresses had no effect on
  // the shadow. They would have none again.
  struct memo {
    std::uint64_t low = 0, high = 0, stores = 0;
    std::uint32_t phase = 0;
    lane_shape::form lanes = lane_shape::form::unknown;
    bool operator==(const memo&) const = default;
  } last;
};

// Nothing between the loads needs a check, and no other warp runs there.
struct load_run {
  std::vector<load_group> groups;
  std::uint32_t end = 0;  // index of the instruction behind it
};

}  // namespace halfwarp::emulator::exec
