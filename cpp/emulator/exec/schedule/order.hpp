// SPDX-License-Identifier: Apache-2.0
// The order in which the emulator takes things when it is free to choose.
#pragma once

#include <cstdint>

namespace halfwarp::emulator::exec {

// The i-th of `count` things: a permutation drawn from seed and salt; ascending for seed 0.
std::uint64_t shuffled(std::uint64_t i, std::uint64_t count, std::uint64_t seed,
                       std::uint64_t salt) noexcept;

}  // namespace halfwarp::emulator::exec
