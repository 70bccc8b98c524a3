// SPDX-License-Identifier: Apache-2.0
// Floating-point arithmetic by definition: exact integers, rounded once. Slow, and independent of
// the host's arithmetic.
#pragma once

#include <cstdint>

namespace halfwarp::tests {

enum class rounding { nearest, zero, down, up };

struct float_format {
  int exponent_bits, fraction_bits;
  std::uint64_t nan;  // the canonical NaN

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int bits() const { return 1 + exponent_bits + fraction_bits; }
  std::uint64_t sign_bit() const { return std::uint64_t{1} << (bits() - 1); }
  std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  }
  bool is_nan(std::uint64_t v) const { return (v & (sign_bit() - 1)) > infinity(); }
  bool is_infinite(std::uint64_t v) const { return (v & (sign_bit() - 1)) == infinity(); }
  bool is_zero(std::uint64_t v) const { return (v & (sign_bit() - 1)) == 0; }
  bool is_negative(std::uint64_t v) const { return v & sign_bit(); }
  bool is_subnormal(std::uint64_t v) const { return !is_zero(v) && (v & infinity()) == 0; }
  std::uint64_t flushed(std::uint64_t v) const { return is_subnormal(v) ? v & sign_bit() : v; }
};
inline constexpr float_format binary16{5, 10, 0x7fff};
inline constexpr float_format bfloat16{8, 7, 0x7fff};
inline constexpr float_format binary32{8, 23, 0x7fffffff};
// NaN results of f64 compare equal regardless of their payload.
inline constexpr float_format binary64{11, 52, 0x7ff8000000000000};

std::uint64_t exact_add(const float_format& f, std::uint64_t a, std::uint64_t b, rounding mode);
std::uint64_t exact_multiply(const float_format& f, std::uint64_t a, std::uint64_t b,
                             rounding mode);
std::uint64_t exact_fma(const float_format& f, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                        rounding mode);
std::uint64_t exact_divide(const float_format& f, std::uint64_t a, std::uint64_t b, rounding mode);
std::uint64_t exact_square_root(const float_format& f, std::uint64_t a, rounding mode);
std::uint64_t exact_convert(const float_format& to, const float_format& from, std::uint64_t a,
                            rounding mode);
std::uint64_t exact_from_integer(const float_format& to, bool is_negative, std::uint64_t magnitude,
                                 rounding mode);
// Rounds to an integral value of the same format.
std::uint64_t exact_integral(const float_format& f, std::uint64_t a, rounding mode);
// Saturates to `bits` bits; a NaN becomes `of_nan`.
std::uint64_t exact_to_integer(const float_format& f, std::uint64_t a, rounding mode, int bits,
                               bool is_signed, std::uint64_t of_nan);

}  // namespace halfwarp::tests
