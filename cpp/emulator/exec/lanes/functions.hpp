// SPDX-License-Identifier: Apache-2.0
// Transcendental functions of f32 arguments in double precision, for vectorized loops. Every host
// computes the same bits, because no operation depends on the instruction set.
//
// The relative errors are a few 2^-53. Sources are numbers of f32, so none is subnormal here.
#pragma once

#include <math.h>

#include "emulator/exec/lanes/half.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {

// Adding it leaves the nearest integer in the low bits of the sum.
inline constexpr double to_integer = 0x1.8p52;
inline constexpr double inverse_ln2 = 0x1.71547652b82fep+0, ln2 = 0x1.62e42fefa39efp-1;
inline constexpr double ln2_high = 0x1.62e42fefa2000p-1, ln2_low = 0x1.9ef35793c7673p-41;

[[gnu::always_inline]] inline double chosen(bool condition, double a, double b) noexcept {
  return from_bits(blended(condition, bits(a), bits(b)));
}
[[gnu::always_inline]] inline bool is_nan(double value) noexcept {
  return (bits(value) & ~bits(-0.0)) > bits(__builtin_inf());
}
[[gnu::always_inline]] inline double magnitude_of(double value) noexcept {
  return from_bits(bits(value) & ~bits(-0.0));
}

// Evaluates a polynomial; the coefficients begin with the highest power.
template <class... Coefficients>
[[gnu::always_inline]] inline double polynomial(double x, double sum, Coefficients... rest) {
  ((sum = sum * x + rest), ...);
  return sum;
}

// Returns 2^n for the integer in the low bits of a sum with `to_integer`.
[[gnu::always_inline]] inline double power(double sum) noexcept {
  return from_bits((bits(sum) << 52) + bits(1.0));
}

// (e^x - 1) / x for |x| <= ln2 / 2: the sum of x^k / (k + 1)!.
[[gnu::always_inline]] inline double growth(double x) noexcept {
  return polynomial(x, 1 / 87'178'291'200.0, 1 / 6'227'020'800.0, 1 / 479'001'600.0,
                    1 / 39'916'800.0, 1 / 3'628'800.0, 1 / 362'880.0, 1 / 40'320.0, 1 / 5'040.0,
                    1 / 720.0, 1 / 120.0, 1 / 24.0, 1 / 6.0, 0.5, 1.0);
}

struct power_of_two {
  [[gnu::always_inline]] static double of(double a) noexcept {
    // Beyond 200 every power is infinite or 0 in f32.
    double clamped = chosen(magnitude_of(a) < 200, a, chosen(a < 0, -200, 200));
    double sum = clamped + to_integer;
    double x = (clamped - (sum - to_integer)) * ln2;
    double result = power(sum) * (1 + x * growth(x));
    return chosen(is_nan(a), a, result);
  }
};

struct logarithm {
  [[gnu::always_inline]] static double of(double a) noexcept {
    // a = 2^n * m with m from sqrt(1/2) to sqrt(2); the offset keeps the difference positive.
    constexpr uint64_t offset = 1024ull << 52, root = 0x3fe6'a09e'667f'3bcd;
    constexpr uint64_t fraction = 0xf'ffff'ffff'ffff;
    uint64_t shifted = bits(a) - root + offset;
    double n = from_bits(shifted >> 52 | bits(0x1p52)) - (0x1p52 + 1024);
    double m = from_bits((shifted & fraction) + root);
    // log(m) = 2 artanh(s), the sum of 2 s^(2k+1) / (2k+1), where s^2 is at most 0.0295.
    double s = (m - 1) / (m + 1), square = s * s;
    double sum = polynomial(square, 1 / 23.0, 1 / 21.0, 1 / 19.0, 1 / 17.0, 1 / 15.0, 1 / 13.0,
                            1 / 11.0, 1 / 9.0, 1 / 7.0, 1 / 5.0, 1 / 3.0);
    double result = n + 2 * inverse_ln2 * (s + s * square * sum);
    double special = chosen(a == 0, -__builtin_inf(), chosen(a > 0, a, __builtin_nan("")));
    bool is_number = (a > 0) & (a < __builtin_inf());
    return chosen(is_number, result, special);
  }
};

// The sine, or the cosine as the sine of the next quadrant. Beyond the limit, the C library
// computes it lane by lane.
template <unsigned Quadrant>
struct circular {
  static constexpr double limit = 0x1p20;
  static double exact(double a) { return Quadrant ? cos(a) : sin(a); }
  [[gnu::always_inline]] static double of(double a) noexcept {
    // a = n * pi / 2 + r; the first two parts of pi / 2 have 33 bits, so their products are exact.
    double sum = a * 0x1.45f306dc9c883p-1 + to_integer, n = sum - to_integer;
    double r = a - n * 0x1.921fb544p+0 - n * 0x1.0b4611a6p-34 - n * 0x1.3198a2e037073p-69;
    double square = r * r;
    double of_sine = polynomial(square, -1 / 121'645'100'408'832'000.0, 1 / 355'687'428'096'000.0,
                                -1 / 1'307'674'368'000.0, 1 / 6'227'020'800.0, -1 / 39'916'800.0,
                                1 / 362'880.0, -1 / 5'040.0, 1 / 120.0, -1 / 6.0);
    double of_cosine = polynomial(square, 1 / 6'402'373'705'728'000.0, -1 / 20'922'789'888'000.0,
                                  1 / 87'178'291'200.0, -1 / 479'001'600.0, 1 / 3'628'800.0,
                                  -1 / 40'320.0, 1 / 720.0, -1 / 24.0, 0.5);
    return turned(sum, r * (1 + square * of_sine), 1 - square * of_cosine);
  }

 private:
  [[gnu::always_inline]] static double turned(double sum, double sine, double cosine) noexcept {
    uint64_t quadrant = bits(sum) + Quadrant;
    uint64_t mask = -(quadrant & 1);
    uint64_t result = (bits(sine) & ~mask) | (bits(cosine) & mask);
    return from_bits(result ^ (quadrant & 2) << 62);
  }
};
using sine = circular<0>;
using cosine = circular<1>;

struct hyperbolic_tangent {
  [[gnu::always_inline]] static double of(double a) noexcept {
    // tanh(a) = e / (e + 2) with e = exp(2 |a|) - 1. Beyond 20 it is 1 in f32.
    double twice = 2 * magnitude_of(a);
    double y = chosen(twice < 40, twice, 40);
    double sum = y * inverse_ln2 + to_integer, n = sum - to_integer;
    double x = y - n * ln2_high - n * ln2_low, scale = power(sum);
    double e = scale * (x * growth(x)) + (scale - 1);
    uint64_t sign = bits(a) & bits(-0.0);
    return chosen(is_nan(a), a, from_bits(bits(e / (e + 2)) | sign));
  }
};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
