// SPDX-License-Identifier: Apache-2.0
// Rounding of the sums of products.
#pragma once

#include <cstdint>

namespace halfwarp::emulator::exec {

inline constexpr std::int32_t no_exponent = -100'000;  // of a zero

// Returns sum * 2^unit toward zero, as the bits of a float.
std::uint32_t float_of(std::int64_t sum, int unit);
// Returns sum * 2^unit to nearest even, as the bits of a 16-bit float.
std::uint32_t half_of(std::int64_t sum, int unit);
// Return the sum of two numbers to nearest even.
std::uint32_t sum_of_floats(std::uint32_t a, std::uint32_t b);
std::uint32_t sum_of_halves(std::uint32_t a, std::uint32_t b);

}  // namespace halfwarp::emulator::exec
