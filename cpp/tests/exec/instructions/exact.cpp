// SPDX-License-Identifier: Apache-2.0
// Exact sums and quotients as wide integers with a sticky last bit, rounded once.
#include "exact.hpp"

#include <utility>

namespace halfwarp::tests {
namespace {

__extension__ typedef unsigned __int128 u128;

// magnitude * 2^exponent
struct number {
  bool is_negative = false;
  u128 magnitude = 0;
  int exponent = 0;
};

int width(u128 v) {
  int n = 0;
  for (; v; v >>= 1) ++n;
  return n;
}

number unpack(const float_format& f, std::uint64_t v) {
  std::uint64_t fraction = v & ((std::uint64_t{1} << f.fraction_bits) - 1);
  int biased = static_cast<int>((v & f.infinity()) >> f.fraction_bits);
  number n;
  n.is_negative = f.is_negative(v);
  n.magnitude = biased ? fraction | std::uint64_t{1} << f.fraction_bits : fraction;
  n.exponent = (biased ? biased : 1) - f.bias() - f.fraction_bits;
  return n;
}

bool rounds_up(bool is_negative, bool is_odd, bool has_half, bool has_rest, rounding mode) {
  switch (mode) {
    case rounding::nearest:
      return has_half && (has_rest || is_odd);
    case rounding::zero:
      return false;
    case rounding::down:
      return is_negative && (has_half || has_rest);
    case rounding::up:
      return !is_negative && (has_half || has_rest);
  }
  return false;
}

// Returns the integer magnitude * 2^-shift, rounded.
u128 rounded_shift(const number& n, int shift, rounding mode) {
  if (shift <= 0) return n.magnitude << -shift;
  if (shift > 127) shift = 127;
  u128 rounded_magnitude = n.magnitude >> shift;
  bool has_half = n.magnitude >> (shift - 1) & 1;
  bool has_rest = n.magnitude & ((u128{1} << (shift - 1)) - 1);
  return rounded_magnitude +
         rounds_up(n.is_negative, rounded_magnitude & 1, has_half, has_rest, mode);
}

std::uint64_t pack(const float_format& f, const number& n, rounding mode) {
  std::uint64_t sign = n.is_negative ? f.sign_bit() : 0;
  if (n.magnitude == 0) return sign;
  int lowest = 1 - f.bias() - f.fraction_bits;  // exponent of the last bit of a subnormal
  int unit = n.exponent + width(n.magnitude) - 1 - f.fraction_bits;
  if (unit < lowest) unit = lowest;
  u128 rounded_magnitude = rounded_shift(n, unit - n.exponent, mode);
  std::uint64_t hidden = std::uint64_t{1} << f.fraction_bits;
  if (rounded_magnitude >= 2 * hidden) {
    rounded_magnitude >>= 1;
    ++unit;
  }
  std::uint64_t biased =
      rounded_magnitude >= hidden ? static_cast<std::uint64_t>(unit - lowest + 1) : 0;
  if (biased >= (std::uint64_t{1} << f.exponent_bits) - 1) {
    bool is_infinite = rounds_up(n.is_negative, true, true, true, mode);
    return sign | (is_infinite ? f.infinity() : f.infinity() - 1);
  }
  return sign | (biased << f.fraction_bits) |
         (static_cast<std::uint64_t>(rounded_magnitude) & (hidden - 1));
}

// Exact except for a sticky last bit far below the rounding position.
number sum(number a, number b, rounding mode) {
  if (a.magnitude == 0 || b.magnitude == 0) {
    bool both = a.magnitude == 0 && b.magnitude == 0;
    if (!both) return a.magnitude ? a : b;
    number zero;
    zero.is_negative = a.is_negative == b.is_negative ? a.is_negative : mode == rounding::down;
    return zero;
  }
  if (a.exponent + width(a.magnitude) < b.exponent + width(b.magnitude)) std::swap(a, b);
  int room = 125 - width(a.magnitude);
  a.magnitude <<= room;
  a.exponent -= room;
  int shift = a.exponent - b.exponent;
  if (shift > 0) {
    bool is_lost = shift > 127 ? true : (b.magnitude & ((u128{1} << shift) - 1)) != 0;
    b.magnitude = (shift > 127 ? 0 : b.magnitude >> shift);
    // Two extra bits separate the sticky part from the last bit of either operand.
    a.magnitude <<= 1;
    b.magnitude = b.magnitude << 1 | is_lost;
    a.exponent -= 1;
  } else {
    b.magnitude <<= -shift;
  }
  number result = a;
  if (a.is_negative == b.is_negative) {
    result.magnitude = a.magnitude + b.magnitude;
  } else {
    bool b_is_larger = b.magnitude > a.magnitude;
    result.magnitude = b_is_larger ? b.magnitude - a.magnitude : a.magnitude - b.magnitude;
    result.is_negative = b_is_larger ? b.is_negative : a.is_negative;
    if (result.magnitude == 0) result.is_negative = mode == rounding::down;
  }
  return result;
}

}  // namespace

std::uint64_t exact_add(const float_format& f, std::uint64_t a, std::uint64_t b, rounding mode) {
  if (f.is_nan(a) || f.is_nan(b)) return f.nan;
  if (f.is_infinite(a)) return f.is_infinite(b) && a != b ? f.nan : a;
  if (f.is_infinite(b)) return b;
  return pack(f, sum(unpack(f, a), unpack(f, b), mode), mode);
}

std::uint64_t exact_fma(const float_format& f, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                        rounding mode) {
  if (f.is_nan(a) || f.is_nan(b) || f.is_nan(c)) return f.nan;
  std::uint64_t sign = (a ^ b) & f.sign_bit();
  if (f.is_infinite(a) || f.is_infinite(b)) {
    if (f.is_zero(a) || f.is_zero(b)) return f.nan;
    std::uint64_t product = f.infinity() | sign;
    return f.is_infinite(c) && c != product ? f.nan : product;
  }
  if (f.is_infinite(c)) return c;
  number x = unpack(f, a), y = unpack(f, b);
  number product{sign != 0, x.magnitude * y.magnitude, x.exponent + y.exponent};
  return pack(f, sum(product, unpack(f, c), mode), mode);
}

std::uint64_t exact_multiply(const float_format& f, std::uint64_t a, std::uint64_t b,
                             rounding mode) {
  if (f.is_nan(a) || f.is_nan(b)) return f.nan;
  std::uint64_t sign = (a ^ b) & f.sign_bit();
  if (f.is_infinite(a) || f.is_infinite(b)) {
    return f.is_zero(a) || f.is_zero(b) ? f.nan : f.infinity() | sign;
  }
  number x = unpack(f, a), y = unpack(f, b);
  return pack(f, {sign != 0, x.magnitude * y.magnitude, x.exponent + y.exponent}, mode);
}

std::uint64_t exact_divide(const float_format& f, std::uint64_t a, std::uint64_t b, rounding mode) {
  if (f.is_nan(a) || f.is_nan(b)) return f.nan;
  std::uint64_t sign = (a ^ b) & f.sign_bit();
  if (f.is_infinite(a)) return f.is_infinite(b) ? f.nan : f.infinity() | sign;
  if (f.is_infinite(b)) return sign;
  if (f.is_zero(b)) return f.is_zero(a) ? f.nan : f.infinity() | sign;
  number x = unpack(f, a), y = unpack(f, b);
  if (x.magnitude == 0) return sign;
  int shift = 126 - width(x.magnitude);
  u128 wide = x.magnitude << shift;
  // At least 72 bits of quotient, then the sticky bit.
  u128 quotient = wide / y.magnitude;
  bool is_inexact = wide % y.magnitude != 0;
  return pack(f, {sign != 0, quotient << 1 | is_inexact, x.exponent - shift - y.exponent - 1},
              mode);
}

std::uint64_t exact_square_root(const float_format& f, std::uint64_t a, rounding mode) {
  if (f.is_nan(a)) return f.nan;
  if (f.is_zero(a)) return a;
  if (f.is_negative(a)) return f.nan;
  if (f.is_infinite(a)) return a;
  number x = unpack(f, a);
  int shift = 124 - width(x.magnitude);
  if ((x.exponent - shift) % 2) ++shift;
  u128 wide = x.magnitude << shift, root = 0;
  for (int bit = 62; bit >= 0; --bit) {
    u128 candidate = root | u128{1} << bit;
    if (candidate * candidate <= wide) root = candidate;
  }
  bool is_inexact = root * root != wide;
  return pack(f, {false, root << 1 | is_inexact, (x.exponent - shift) / 2 - 1}, mode);
}

std::uint64_t exact_convert(const float_format& to, const float_format& from, std::uint64_t a,
                            rounding mode) {
  if (from.is_nan(a)) return to.nan;
  std::uint64_t sign = from.is_negative(a) ? to.sign_bit() : 0;
  if (from.is_infinite(a)) return to.infinity() | sign;
  return pack(to, unpack(from, a), mode);
}

std::uint64_t exact_from_integer(const float_format& to, bool is_negative, std::uint64_t magnitude,
                                 rounding mode) {
  return pack(to, {is_negative && magnitude, magnitude, 0}, mode);
}

std::uint64_t exact_integral(const float_format& f, std::uint64_t a, rounding mode) {
  if (f.is_nan(a)) return f.nan;
  if (f.is_infinite(a)) return a;
  number n = unpack(f, a);
  if (n.exponent >= 0) return a;
  return pack(f, {n.is_negative, rounded_shift(n, -n.exponent, mode), 0}, mode);
}

std::uint64_t exact_to_integer(const float_format& f, std::uint64_t a, rounding mode, int bits,
                               bool is_signed, std::uint64_t of_nan) {
  u128 lowest = is_signed ? u128{1} << (bits - 1) : 0;  // magnitude of the lowest value
  u128 highest = (u128{1} << (is_signed ? bits - 1 : bits)) - 1;
  std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  if (f.is_nan(a)) return of_nan & mask;
  number n = unpack(f, a);
  bool is_huge = f.is_infinite(a) || n.exponent > 64;
  u128 magnitude = is_huge ? u128{1} << 100 : rounded_shift(n, -n.exponent, mode);
  u128 limit = n.is_negative ? lowest : highest;
  if (magnitude > limit) magnitude = limit;
  std::uint64_t value = static_cast<std::uint64_t>(magnitude);
  return (n.is_negative ? 0 - value : value) & mask;
}

}  // namespace halfwarp::tests
