// SPDX-License-Identifier: Apache-2.0
// Rounds exact sums in integer arithmetic.
#include "emulator/exec/matrix/rounding.hpp"

#include <bit>

#include "emulator/exec/lanes/half.hpp"

namespace halfwarp::emulator::exec {
namespace {

// A sum with its sign apart, and the exponent of its first bit.
struct split_sum {
  bool is_negative;
  std::uint64_t magnitude;
  int exponent;
};
split_sum split(std::int64_t sum, int unit) {
  const auto bits = static_cast<std::uint64_t>(sum);
  const std::uint64_t magnitude = sum < 0 ? std::uint64_t{0} - bits : bits;
  return {sum < 0, magnitude, 63 - std::countl_zero(magnitude) + unit};
}

}  // namespace

std::uint32_t float_of(std::int64_t sum, int unit) {
  if (sum == 0) return 0;
  const split_sum s = split(sum, unit);
  const std::uint32_t sign = s.is_negative ? 0x8000'0000u : 0;
  if (s.exponent > 127) return sign | 0x7f80'0000u;
  const int normal = s.exponent < -126 ? -126 : s.exponent;
  const int shift = normal - 23 - unit;
  const std::uint64_t truncated = shift >= 64  ? 0
                                  : shift >= 0 ? s.magnitude >> shift
                                               : s.magnitude << -shift;
  if (truncated == 0) return 0;
  return sign |
         static_cast<std::uint32_t>((static_cast<std::uint64_t>(normal + 126) << 23) + truncated);
}

std::uint32_t half_of(std::int64_t sum, int unit) {
  if (sum == 0) return 0;
  const split_sum s = split(sum, unit);
  const std::uint32_t sign = s.is_negative ? 0x8000u : 0;
  const int normal = s.exponent < -14 ? -14 : s.exponent;
  const int shift = normal - 10 - unit;
  std::uint64_t rounded = 0;
  if (shift <= 0) {
    rounded = s.magnitude << -shift;
  } else if (shift < 63) {
    const std::uint64_t unit_bit = std::uint64_t{1} << shift;
    rounded = s.magnitude >> shift;
    rounded += baseline::rounds_up(baseline::to_nearest, false, rounded & 1,
                                   s.magnitude & (unit_bit - 1), unit_bit);
  }
  if (rounded == 0) return 0;
  const std::uint64_t result = (static_cast<std::uint64_t>(normal + 14) << 10) + rounded;
  return sign | (result >= 0x7c00 ? 0x7c00u : static_cast<std::uint32_t>(result));
}

std::uint32_t sum_of_halves(std::uint32_t a, std::uint32_t b) {
  using baseline::half;
  const double sum = double{half::to_float(static_cast<std::uint16_t>(a))} +
                     double{half::to_float(static_cast<std::uint16_t>(b))};
  return baseline::rounded_to<half>(sum, baseline::to_nearest);
}

std::uint32_t sum_of_floats(std::uint32_t a, std::uint32_t b) {
  const float sum = std::bit_cast<float>(a) + std::bit_cast<float>(b);
  return sum == sum ? std::bit_cast<std::uint32_t>(sum) : 0x7fff'ffffu;
}

}  // namespace halfwarp::emulator::exec
