// SPDX-License-Identifier: Apache-2.0
// The order in which the emulator runs blocks and warps, where CUDA leaves it undefined.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace halfwarp::emulator::exec {

struct launch_request;
struct launch_state;

// Maps i to its position in a permutation of `count` items. Seed and salt select the permutation;
// seed 0 is the identity.
std::uint64_t shuffled_index(std::uint64_t i, std::uint64_t count, std::uint64_t seed,
                             std::uint64_t salt) noexcept;

// A cluster that is to run: its number in the grid, and its position in the order of starts.
struct cluster_start {
  std::uint64_t number = 0, position = 0;
};
// Takes the next cluster; returns nothing if all have started, or a fault makes them unnecessary.
std::optional<cluster_start> next_cluster(launch_state& launch);
// Returns the index of the first block of a cluster in x, y, z.
std::array<std::uint32_t, 3> first_block(const launch_request& request, std::uint64_t cluster);

}  // namespace halfwarp::emulator::exec
