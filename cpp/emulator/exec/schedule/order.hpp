// SPDX-License-Identifier: Apache-2.0
// The order in which the emulator runs blocks and warps, where CUDA leaves it undefined.
#pragma once

#include <cstdint>

namespace halfwarp::emulator::exec {

// Maps i to its position in a permutation of `count` items. Seed and salt select the permutation;
// seed 0 is the identity.
std::uint64_t shuffled_index(std::uint64_t i, std::uint64_t count, std::uint64_t seed,
                             std::uint64_t salt) noexcept;

}  // namespace halfwarp::emulator::exec
