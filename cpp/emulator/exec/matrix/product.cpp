// SPDX-License-Identifier: Apache-2.0
// Elements of A and B by row, column and k; then one sum for each element of D.
//
// A floating-point step aligns C and all products at the largest exponent, truncates each to the
// fraction bits of the hardware, adds them exactly and rounds once.
#include "emulator/exec/matrix/product.hpp"

#include <bit>
#include <cstdlib>
#include <limits>

#include "emulator/exec/matrix/rounding.hpp"
#include "emulator/exec/matrix/sparse.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::scalar_type;

constexpr int max_depth = 128, max_a_depth = 64;
constexpr int lowest_exponent = -133;  // of the alignment

// ---- positions of elements

std::uint32_t a_bits(const matrix_site& site, const product_sources& from, int row, int k) {
  const int per_register = 32 / site.width, group = row & 7;
  const int block = k / per_register / 4, t = k / per_register % 4;
  const int n = site.rows == 8 ? block : 2 * block + (row >> 3);
  return from.a[n][4 * group + t] >> (k % per_register * site.width);
}
std::uint32_t b_bits(const matrix_site& site, const product_sources& from, int k, int column) {
  const int per_register = 32 / site.width;
  const int n = k / per_register / 4, t = k / per_register % 4;
  return from.b[n][4 * column + t] >> (k % per_register * site.width);
}

struct element_place {
  int n, lane, shift;
};
element_place place_of(scalar_type type, int row, int column) {
  const int lane = 4 * (row & 7) + column / 2;
  if (type == scalar_type::f16) return {row >> 3, lane, 16 * (column & 1)};
  return {2 * (row >> 3) + (column & 1), lane, 0};
}

// ---- floating point

template <int exponent_bits, int fraction_bits, bool has_infinity>
matrix_term decoded(std::uint32_t bits) {
  constexpr int bias = (1 << (exponent_bits - 1)) - 1, last = (1 << exponent_bits) - 1;
  const int field = static_cast<int>(bits >> fraction_bits & last);
  const std::uint32_t fraction = bits & ((1u << fraction_bits) - 1);
  const bool is_negative = bits >> (exponent_bits + fraction_bits) & 1;
  if (has_infinity && field == last) {
    return {is_negative ? -1 : 1, no_exponent, !fraction, fraction != 0};
  }
  const auto sig = static_cast<std::int32_t>(field ? fraction | 1u << fraction_bits : fraction)
                   << (10 - fraction_bits);
  return {is_negative ? -sig : sig, sig ? (field ? field : 1) - bias : no_exponent};
}

// e4m3 has no infinity: only all ones is NaN.
matrix_term decoded_e4m3(std::uint32_t bits, bool is_widened) {
  matrix_term result = decoded<4, 3, false>(bits);
  result.is_nan = (bits & 0x7f) == 0x7f;
  while (is_widened && result.sig && std::abs(result.sig) >> 10 == 0) {
    result.sig *= 2;
    --result.top;
  }
  return result;
}

struct float_sources {
  matrix_term a[product_rows][max_a_depth], b[max_depth][product_columns];
  column_table column;  // k of each column of A
};

// Returns a term times the scale of its block: ue8m0 is a power of two, ue4m3 has no sign.
matrix_term scaled(matrix_term term, scalar_type type, std::uint32_t scale) {
  if (type == scalar_type::ue8m0) {
    term.is_nan |= scale == 0xff;
    if (term.sig) term.top += static_cast<int>(scale) - 127;
    return term;
  }
  const matrix_term factor = decoded_e4m3(scale & 0x7f, false);
  term.is_nan |= factor.is_nan;
  term.sig = term.sig * (factor.sig >> 7) / 8;
  term.top = term.sig ? term.top + factor.top : no_exponent;
  return term;
}

std::uint32_t scale_byte(const std::uint32_t* scales, int lane, int byte, int chunk) {
  return scales[lane] >> 8 * (byte + chunk) & 0xff;
}

void scale_sources(const matrix_site& site, const product_sources& from, float_sources& s) {
  const scale_site& scales = site.scales;
  if (!scales.vector) return;
  const int block = site.depth / scales.vector;
  for (int row = 0; row < site.rows; ++row) {
    const int lane = 4 * (row & 7) + 2 * scales.thread_a + (row >> 3);
    for (int k = 0; k < site.a_depth(); ++k) {
      const int chunk = s.column.k[row][k] / block;
      s.a[row][k] =
          scaled(s.a[row][k], scales.type, scale_byte(from.scale_a, lane, scales.byte_a, chunk));
    }
  }
  for (int k = 0; k < site.depth; ++k) {
    for (int j = 0; j < product_columns; ++j) {
      const int lane = 4 * j + scales.thread_b;
      s.b[k][j] =
          scaled(s.b[k][j], scales.type, scale_byte(from.scale_b, lane, scales.byte_b, k / block));
    }
  }
}

void read_floats(const matrix_site& site, const product_sources& from, float_sources& s) {
  const bool is_widened = site.sums == addition::two_steps;
  const int unused = site.width == 8 && site.a_type == scalar_type::e2m1 ? 2 : 0;
  const int unused_b = site.width == 8 && site.b_type == scalar_type::e2m1 ? 2 : 0;
  for (int row = 0; row < site.rows; ++row) {
    for (int k = 0; k < site.a_depth(); ++k) {
      matrix_term& term = s.a[row][k];
      term = term_of(site.a_type, a_bits(site, from, row, k) >> unused, is_widened);
      if (site.negates_a) term.sig = -term.sig;
    }
  }
  for (int k = 0; k < site.depth; ++k) {
    for (int j = 0; j < product_columns; ++j) {
      matrix_term& term = s.b[k][j];
      term = term_of(site.b_type, b_bits(site, from, k, j) >> unused_b, is_widened);
      if (site.negates_b) term.sig = -term.sig;
    }
  }
  s.column = columns_of(site, from);
  scale_sources(site, from, s);
}

// C as a term with 25 fraction bits.
struct accumulator {
  std::int64_t sig;
  std::int32_t top;
  bool is_infinite, is_nan;
};
accumulator accumulator_of(std::uint32_t bits, scalar_type type) {
  constexpr int fraction_bits = 25;
  if (type == scalar_type::f16) {
    const matrix_term x = term_of(scalar_type::f16, bits, false);
    const std::int64_t sig = x.is_infinite ? x.sig : std::int64_t{x.sig} << (fraction_bits - 10);
    return {sig, x.top, x.is_infinite, x.is_nan};
  }
  const std::uint32_t field = bits >> 23 & 0xff, fraction = bits & 0x7f'ffff;
  accumulator result{};
  result.is_nan = field == 0xff && fraction;
  result.is_infinite = field == 0xff && !fraction;
  result.sig = std::int64_t{field ? fraction | 0x80'0000 : fraction} << (fraction_bits - 23);
  result.top = result.sig ? static_cast<std::int32_t>(field ? field : 1) - 127 : no_exponent;
  if (bits >> 31) result.sig = -result.sig;
  return result;
}

// The columns of A that a step multiplies: all, or those with a bit of their number.
struct step_columns {
  int bit = 0, value = 0;
  bool has(int k) const { return (k & bit) == value; }
};

// Summarizes the terms of an element that are not finite.
struct special_terms {
  bool is_nan = false, has_plus = false, has_minus = false;

  void add(const matrix_term& a, const matrix_term& b) {
    is_nan |= a.is_nan || b.is_nan;
    if (!a.is_infinite && !b.is_infinite) return;
    is_nan |= a.sig == 0 || b.sig == 0;
    ((a.sig < 0) != (b.sig < 0) ? has_minus : has_plus) = true;
  }
  bool any() const { return is_nan || has_plus || has_minus; }
  std::uint32_t result(bool is_half) const {
    if (is_nan || (has_plus && has_minus)) return is_half ? 0x7fffu : 0x7fff'ffffu;
    const std::uint32_t infinity = is_half ? 0x7c00u : 0x7f80'0000u;
    return has_plus ? infinity : infinity | (is_half ? 0x8000u : 0x8000'0000u);
  }
};

// Returns magnitude * 2^-distance toward zero, or times a power of two for a negative distance.
std::int64_t shifted(std::int64_t value, int distance) {
  const std::uint64_t magnitude = static_cast<std::uint64_t>(std::abs(value));
  const std::uint64_t aligned = distance > 62  ? 0
                                : distance > 0 ? magnitude >> distance
                                               : magnitude << -distance;
  return value < 0 ? -static_cast<std::int64_t>(aligned) : static_cast<std::int64_t>(aligned);
}

// Computes one step of the hardware for an element of D.
std::uint32_t step(const matrix_site& site, const float_sources& s, int row, int column,
                   step_columns columns, const accumulator& c) {
  special_terms special{c.is_nan, c.is_infinite && c.sig > 0, c.is_infinite && c.sig < 0};
  int exponent = c.sig && c.top > lowest_exponent ? c.top : lowest_exponent;
  for (int k = 0; k < site.a_depth(); ++k) {
    if (!columns.has(k)) continue;
    const matrix_term &a = s.a[row][k], &b = s.b[s.column.k[row][k]][column];
    special.add(a, b);
    if (a.top + b.top > exponent) exponent = a.top + b.top;
  }
  const bool is_half = site.d_type == scalar_type::f16;
  if (special.any()) return special.result(is_half);
  const int unit = exponent - site.fraction_bits;
  std::int64_t sum = shifted(c.sig, exponent - c.top + 25 - site.fraction_bits);
  for (int k = 0; k < site.a_depth(); ++k) {
    if (!columns.has(k)) continue;
    const matrix_term &a = s.a[row][k], &b = s.b[s.column.k[row][k]][column];
    sum += shifted(std::int64_t{a.sig} * b.sig, unit + 20 - a.top - b.top);
  }
  if (is_half) return half_of(sum, unit);
  const std::uint32_t result = float_of(sum, unit);
  const bool is_infinite = (result & 0x7f80'0000) == 0x7f80'0000;
  return is_infinite
             ? result
             : result >> (23 - site.result_fraction_bits) << (23 - site.result_fraction_bits);
}

std::uint32_t float_element(const matrix_site& site, const float_sources& s, int row, int column,
                            std::uint32_t c) {
  if (site.sums == addition::one_step) {
    return step(site, s, row, column, {}, accumulator_of(c, site.c_type));
  }
  const std::uint32_t first = step(site, s, row, column, {2, 0}, {});
  const std::uint32_t sum = step(site, s, row, column, {2, 2}, accumulator_of(first, site.d_type));
  return site.d_type == scalar_type::f16 ? sum_of_halves(sum, c) : sum_of_floats(sum, c);
}

template <class Element>
void fill(const matrix_site& site, const product_sources& from, product_results& d,
          Element&& element) {
  for (int row = 0; row < site.rows; ++row) {
    for (int j = 0; j < product_columns; ++j) {
      const element_place old = place_of(site.c_type, row, j), to = place_of(site.d_type, row, j);
      const std::uint32_t mask = site.c_type == scalar_type::f16 ? 0xffff : ~0u;
      const std::uint32_t c = from.c[old.n][old.lane] >> old.shift & mask;
      std::uint32_t& word = d[to.n][to.lane];
      if (to.shift == 0) word = 0;
      word |= element(row, j, c) << to.shift;
    }
  }
}

// ---- integers

std::int32_t integer_of(scalar_type type, std::uint32_t element) {
  switch (type) {
    case scalar_type::s8:
      return static_cast<std::int8_t>(element);
    case scalar_type::u8:
      return static_cast<std::uint8_t>(element);
    case scalar_type::s4:
      return static_cast<std::int32_t>(element << 28) >> 28;
    default:
      return static_cast<std::int32_t>(element & 15);
  }
}

std::uint32_t integer_sum(const matrix_site& site, std::uint32_t c, std::int64_t sum) {
  sum += static_cast<std::int32_t>(c);
  using limits = std::numeric_limits<std::int32_t>;
  if (site.is_saturating && sum < limits::min()) sum = limits::min();
  if (site.is_saturating && sum > limits::max()) sum = limits::max();
  return static_cast<std::uint32_t>(sum);
}

void multiply_integers(const matrix_site& site, const product_sources& from, product_results& d) {
  std::int32_t a[product_rows][max_a_depth], b[max_depth][product_columns];
  const column_table column = columns_of(site, from);
  for (int row = 0; row < site.rows; ++row) {
    for (int k = 0; k < site.a_depth(); ++k) {
      a[row][k] = integer_of(site.a_type, a_bits(site, from, row, k));
    }
  }
  for (int k = 0; k < site.depth; ++k) {
    for (int j = 0; j < product_columns; ++j) {
      b[k][j] = integer_of(site.b_type, b_bits(site, from, k, j));
    }
  }
  fill(site, from, d, [&](int row, int j, std::uint32_t c) {
    std::int32_t sum = 0;
    for (int k = 0; k < site.a_depth(); ++k) sum += a[row][k] * b[column.k[row][k]][j];
    return integer_sum(site, c, sum);
  });
}

void multiply_bits(const matrix_site& site, const product_sources& from, product_results& d) {
  matrix_site words = site;
  words.width = 32;
  fill(site, from, d, [&](int row, int j, std::uint32_t c) {
    for (int k = 0; k < site.depth / 32; ++k) {
      const std::uint32_t x = a_bits(words, from, row, k), y = b_bits(words, from, k, j);
      const std::uint32_t both = site.bits == bit_product::and_popc ? x & y : x ^ y;
      c += static_cast<std::uint32_t>(std::popcount(both));
    }
    return c;
  });
}

}  // namespace

matrix_term term_of(scalar_type type, std::uint32_t bits, bool is_widened) {
  switch (type) {
    case scalar_type::f16:
      return decoded<5, 10, true>(bits);
    case scalar_type::bf16:
      return decoded<8, 7, true>(bits);
    case scalar_type::tf32:
      return decoded<8, 10, true>(bits >> 13);
    case scalar_type::e4m3:
      return decoded_e4m3(bits, is_widened);
    case scalar_type::e5m2:
      return decoded<5, 2, true>(bits);
    case scalar_type::e3m2:
      return decoded<3, 2, false>(bits);
    case scalar_type::e2m3:
      return decoded<2, 3, false>(bits);
    default:
      return decoded<2, 1, false>(bits);
  }
}

void multiply(const matrix_site& site, const product_sources& from, product_results& d) {
  if (site.bits != bit_product::none) return multiply_bits(site, from, d);
  if (site.d_type == scalar_type::s32) return multiply_integers(site, from, d);
  float_sources s;
  read_floats(site, from, s);
  fill(site, from, d,
       [&](int row, int j, std::uint32_t c) { return float_element(site, s, row, j, c); });
}

}  // namespace halfwarp::emulator::exec
