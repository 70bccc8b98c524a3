// SPDX-License-Identifier: Apache-2.0
// 16-bit floating-point formats and exact rounding to them in integer arithmetic. Functions that
// the compiler must vectorize have no branches.
#pragma once

#include "emulator/exec/lanes/numbers.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {

// Numeric values of float_flag::rounding.
inline constexpr int to_nearest = 0, to_zero = 1, down = 2, up = 3;

// Replaces a subnormal number by zero of the same sign.
[[gnu::always_inline]] inline float flushed(float value) noexcept {
  uint32_t raw = bits(value), zero = raw & 0x8000'0000u;
  return from_bits(blended((raw & 0x7f80'0000u) != 0, raw, zero));
}

struct half {
  static constexpr uint16_t nan = 0x7fff;
  static constexpr uint16_t exponent_mask = 0x7c00;
  static constexpr uint16_t highest = 0x7bff;
  static constexpr uint16_t one = 0x3c00;
  static constexpr int fraction_bits = 10;
  static constexpr int minimum_exponent = -14;

  [[gnu::always_inline]] static float to_float(uint16_t value) noexcept {
    uint32_t magnitude = value & 0x7fffu;
    uint32_t sign = static_cast<uint32_t>(value & 0x8000) << 16;
    // Subnormal: the fraction as an integer, scaled. Normal: the exponent moved to the new bias.
    uint32_t tiny = bits(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
    uint32_t normal = (magnitude << 13) + ((127u - 15u) << 23);
    uint32_t special = (magnitude << 13) | 0x7f80'0000u;
    uint32_t result = blended(magnitude < 0x0400, tiny, normal);
    return from_bits(sign | blended(magnitude >= exponent_mask, special, result));
  }
  [[gnu::always_inline]] static uint16_t flushed(uint16_t value) noexcept {
    uint16_t zero = value & 0x8000;
    return blended((value & exponent_mask) == 0, zero, value);
  }
};

struct bfloat {
  static constexpr uint16_t nan = 0x7fff;
  static constexpr uint16_t exponent_mask = 0x7f80;
  static constexpr uint16_t highest = 0x7f7f;
  static constexpr uint16_t one = 0x3f80;
  static constexpr int fraction_bits = 7;
  static constexpr int minimum_exponent = -126;

  [[gnu::always_inline]] static float to_float(uint16_t value) noexcept {
    return from_bits(static_cast<uint32_t>(value) << 16);
  }
  [[gnu::always_inline]] static uint16_t flushed(uint16_t value) noexcept { return value; }
};

// Checks whether a magnitude between two adjacent numbers of a format rounds to the upper number.
// `remainder` is the part below the lower number, `unit` the distance of the two numbers, and
// `is_odd` the last bit of the lower number.
constexpr bool rounds_up(int rounding, bool is_negative, bool is_odd, uint64_t remainder,
                         uint64_t unit) {
  if (remainder == 0) return false;
  switch (rounding) {
    case to_zero:
      return false;
    case down:
      return is_negative;
    case up:
      return !is_negative;
    default:
      return remainder > unit / 2 || (remainder == unit / 2 && is_odd);
  }
}

// Rounds a double to a 16-bit format in one step. NaN becomes the canonical NaN.
template <class Format>
inline uint16_t rounded_to(double value, int rounding) noexcept {
  uint64_t raw = bits(value);
  uint16_t sign = static_cast<uint16_t>(raw >> 48 & 0x8000);
  int exponent = static_cast<int>(raw >> 52 & 0x7ff);
  uint64_t fraction = raw & 0xf'ffff'ffff'ffffu;
  if (exponent == 0x7ff) return fraction ? Format::nan : sign | Format::exponent_mask;
  if (exponent == 0) return sign | (fraction && rounds_up(rounding, sign, false, 1, 4) ? 1 : 0);
  fraction |= 1ull << 52;
  int power = exponent - 1023;
  int shift = 52 - Format::fraction_bits;
  if (power < Format::minimum_exponent) shift += Format::minimum_exponent - power;
  if (shift > 54) {  // far below the smallest subnormal number
    fraction = 1;
    shift = 54;
  }
  uint64_t truncated = fraction >> shift, unit = 1ull << shift, remainder = fraction & (unit - 1);
  truncated += rounds_up(rounding, sign, truncated & 1, remainder, unit);
  // The hidden bit of a normal number adds one to the exponent below it; so does a carry.
  int biased = power < Format::minimum_exponent ? 0 : power - Format::minimum_exponent;
  uint64_t result = truncated + (static_cast<uint64_t>(biased) << Format::fraction_bits);
  if (result >= Format::exponent_mask) {
    bool is_infinite = rounds_up(rounding, sign, true, 3, 4);
    return sign | (is_infinite ? Format::exponent_mask : Format::highest);
  }
  return sign | static_cast<uint16_t>(result);
}

// Rounds a float to nearest even, for vectorized loops. NaN becomes the canonical NaN.
template <class Format>
[[gnu::always_inline]] inline uint16_t nearest(float value) noexcept;

template <>
[[gnu::always_inline]] inline uint16_t nearest<half>(float value) noexcept {
  uint32_t raw = bits(value), magnitude = raw & 0x7fff'ffffu;
  uint32_t sign = raw >> 16 & 0x8000;
  // Normal: rebias, then add half a unit less one, plus one when the truncated value is odd.
  uint32_t odd = magnitude >> 13 & 1;
  uint32_t normal = (magnitude - ((127u - 15u) << 23) + 0xfffu + odd) >> 13;
  // Subnormal: adding 0.5 puts the unit of the result at the last bit of the sum.
  uint32_t tiny = bits(from_bits(magnitude) + 0.5f) - bits(0.5f);
  uint32_t finite = blended(magnitude < 0x3880'0000u, tiny, normal);
  uint32_t infinite = half::exponent_mask, nan = half::nan;
  uint32_t number = sign | blended(magnitude >= 0x477f'f000u, infinite, finite);
  return static_cast<uint16_t>(blended(magnitude > 0x7f80'0000u, nan, number));
}

template <>
[[gnu::always_inline]] inline uint16_t nearest<bfloat>(float value) noexcept {
  uint32_t raw = bits(value);
  uint32_t odd = raw >> 16 & 1;
  uint32_t result = (raw + 0x7fffu + odd) >> 16;
  uint32_t nan = bfloat::nan;
  return static_cast<uint16_t>(blended((raw & 0x7fff'ffffu) > 0x7f80'0000u, nan, result));
}

// Returns a value that rounds like `value + error` to a format with two bits less: an even value
// becomes its odd neighbor on the side of the error. The compiler does not vectorize comparisons
// of floats here, so integers are compared.
template <class Value, class Error>
[[gnu::always_inline]] inline Value rounded_to_odd(Value value, Error error) {
  using raw_type = bits_type<Value>;
  constexpr bits_type<Error> infinity = bits(Error(__builtin_inf()));
  raw_type raw = bits(value);
  auto magnitude = bits(error) & ~bits(Error(-0.0));
  bool is_inexact = magnitude - 1 < infinity;  // the error is NaN if the sum is not finite
  raw_type differs =
      raw >> (bits_of<Value> - 1) ^ static_cast<raw_type>(bits(error) >> (bits_of<Error> - 1));
  raw_type step = ((~raw & 1) ^ -differs) + differs;  // 1 or -1 at an even value, else 0
  return from_bits(raw + blended<raw_type>(is_inexact, step, 0));
}

// Returns a float that rounds to a 16-bit format like the double.
[[gnu::always_inline]] inline float narrowed(double value) noexcept {
  float narrow = static_cast<float>(value);
  return rounded_to_odd(narrow, value - double{narrow});
}

template <class Format>
[[gnu::always_inline]] inline uint16_t nearest(double value) noexcept {
  return nearest<Format>(narrowed(value));
}

// Applies the modifiers of a result: ftz, sat, relu, satfinite. Saturation makes NaN zero.
template <class Format>
[[gnu::always_inline]] inline uint16_t modified(uint16_t value, uint16_t flags) noexcept {
  constexpr uint16_t zero = 0, one = Format::one, highest = Format::highest;
  const bool has_sat = flags & float_flag::sat, has_relu = flags & float_flag::relu;
  const bool is_finite = flags & float_flag::satfinite;
  value = blended((flags & float_flag::ftz) != 0, Format::flushed(value), value);
  uint16_t magnitude = value & 0x7fff, sign = value & 0x8000;
  bool is_nan = magnitude > Format::exponent_mask, is_negative = sign != 0;
  uint16_t saturated = blended(is_nan | is_negative, zero, blended(value < one, value, one));
  uint16_t finite = sign | highest;
  uint16_t other = blended(is_finite & (magnitude == Format::exponent_mask), finite, value);
  other = blended(has_relu & is_negative & !is_nan, zero, other);
  return blended(has_sat, saturated, other);
}

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
