// SPDX-License-Identifier: Apache-2.0
// mma.sync of the frequent types: D = A * B + C of one warp, with the numerics of an H100.
//
// A product of two elements fits in a float. It is scaled so that the truncation to an integer
// removes the bits that the hardware drops. Other types, and tiles with an infinity or a NaN, take
// the general path.
#include <math.h>

#include "emulator/exec/lanes/matrix_tile.hpp"
#include "emulator/exec/matrix/warpgroup.hpp"
#include "emulator/exec/tensor/tensor_product.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

using ptx::scalar_type;

// Exponents of the alignment between these limits need no subnormal scales or results.
constexpr i32 least_exponent = -100, highest_exponent = 90;
constexpr i32 no_exponent_of_words = -4096;  // larger exponents are of a nonzero term
// Sums of products whose float, after the addition of C, fits in 32 bits.
constexpr u32 largest_sum = 0x7fff'ff00 - (1 << 26);

// ---- C and D

// The columns of C or D. Halves share a word with the next column.
struct result_tile {
  alignas(64) u32 words[product_columns][product_rows];
};

// Words of C and D have two columns of halves, or the even and the odd columns have own registers.
void read_c(const matrix_site& site, const product_sources& from, result_tile& c) {
  const bool is_half = site.c_type == scalar_type::f16;
  for (int i = 0; i < (is_half ? 1 : 2); ++i) {
    visit_columns(from.c[i], from.c[is_half ? 1 : i + 2], [&](int row, word_vector* x) {
      for (int t = 0; t < 4; ++t) {
        stored(c.words[2 * t + i] + row, x[t]);
        if (is_half) stored(c.words[2 * t + 1] + row, x[t] >> 16);
      }
    });
  }
}

void store_d(const matrix_site& site, result_tile& results, product_results& d) {
  if (site.d_type != scalar_type::f16) {
    for (int i = 0; i < 2; ++i) store_rows(results.words + i, 2, d[i], d[i + 2]);
    return;
  }
  for (int column = 0; column < product_columns; column += 2) {
    for (int row = 0; row < product_rows; row += vector_lanes) {
      u32* const even = results.words[column] + row;
      stored(even, loaded<unsigned_vector>(even) | loaded<unsigned_vector>(even + product_rows)
                                                       << 16);
    }
  }
  store_rows(results.words, 2, d[0], d[1]);
}

// ---- floating point

// Returns a sum as a float toward zero. Sums are at most `largest_sum`.
unsigned_vector truncated(const word_vector& sum) {
#ifdef __AVX512BW__
  return (unsigned_vector)_mm512_cvt_roundepi32_ps((__m512i)sum,
                                                   _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
  const auto nearest_float = __builtin_convertvector(sum, float_vector);
  const word_vector back = __builtin_convertvector(nearest_float, word_vector);
  const word_vector is_larger = sum < 0 ? back < sum : back > sum;
  return reinterpret_cast<unsigned_vector>(reinterpret_cast<word_vector>(nearest_float) +
                                           is_larger);
#endif
}

// Returns the sum as a float toward zero, with the lowest bit set if the float drops bits.
unsigned_vector rounded_to_odd(const word_vector& sum) {
  const unsigned_vector raw = truncated(sum);
  const word_vector back =
      __builtin_convertvector(reinterpret_cast<float_vector>(raw), word_vector);
  return raw | (reinterpret_cast<unsigned_vector>(back != sum) & 1);
}

// Rounds floats to halves to nearest. A zero has no sign.
[[gnu::noinline]] unsigned_vector halves_of(const unsigned_vector& raw) {
  const unsigned_vector magnitude = raw & 0x7fff'ffff;
  const unsigned_vector normal =
      (magnitude - ((127u - 15u) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  // The unit of a subnormal half becomes the last bit of the float.
  const float_vector moved = reinterpret_cast<float_vector>(magnitude) + 0.5f;
  const unsigned_vector tiny = reinterpret_cast<unsigned_vector>(moved) - bits(0.5f);
  const unsigned_vector finite = magnitude < 0x3880'0000 ? tiny : normal;
  const unsigned_vector result = magnitude >= 0x477f'f000 ? unsigned_vector{} + 0x7c00 : finite;
  return result ? result | (raw >> 16 & 0x8000) : result;
}

// The columns of a tile of C as numbers.
[[gnu::always_inline]] inline element_vectors accumulators_of(const element_format& format,
                                                              const u32* words) {
  const auto c = loaded<word_vector>(words);
  if (format.bits == 16) return read_elements(format, c, 0);
  // A subnormal number has the exponent of a zero.
  const word_vector field = (c & 0x7fff'ffff) >> 23;
  return {reinterpret_cast<float_vector>(c), field - 127, word_vector{}};
}

// The extremes of all elements, which decide whether the general path must compute them.
struct step_extremes {
  word_vector top = word_vector{} + least_exponent;
  unsigned_vector sum = {}, c = unsigned_vector{} - 1, product = unsigned_vector{} - 1;
  word_vector special = {};

  // Returns whether a term is special or has an exponent near the limits, or a sum exceeds 32 bits.
  bool is_refused() const {
    return is_any(special | (top > highest_exponent) | (sum > 2 * largest_sum) |
                  (c < (static_cast<u32>(127 + least_exponent) << 23) - 1) |
                  (product < static_cast<u32>(least_exponent - no_exponent_of_words)));
  }
};

[[gnu::always_inline]] inline unsigned_vector lower_of(const unsigned_vector& a,
                                                       const unsigned_vector& b) {
  return a < b ? a : b;
}
[[gnu::always_inline]] inline unsigned_vector higher_of(const unsigned_vector& a,
                                                        const unsigned_vector& b) {
  return a > b ? a : b;
}

// Computes one step of the hardware: the part of the columns of A, and C. Returns false for the
// general path.
bool run_step(const matrix_site& site, const float_tile& s, int part, int parts,
              const element_format& format, const result_tile& c, result_tile& d) {
  const int words = s.top_words / parts, columns = s.elements / parts;
  const step_range top_range{part * words, (part + 1) * words};
  const step_range range{part * columns, (part + 1) * columns};
  const u32 mask = ~u32{0} << (23 - site.result_fraction_bits);
  const bool is_half = site.d_type == scalar_type::f16;
  const i32 scale_bias = 127 + site.fraction_bits;
  step_extremes extremes;
  for (int i = 0; i < product_columns * product_rows; i += vector_lanes) {
    const int column = i / product_rows, row = i % product_rows;
    const element_vectors start = accumulators_of(format, c.words[0] + i);
    const word_vector product = find_highest(s, top_range, column, row);
    word_vector top = product > start.top ? product : start.top;
    extremes.top = top > extremes.top ? top : extremes.top;
    extremes.special |= start.special;
    const auto c_magnitude = reinterpret_cast<unsigned_vector>(start.value) & 0x7fff'ffff;
    extremes.c = lower_of(extremes.c, c_magnitude - 1);
    extremes.product = lower_of(extremes.product,
                                reinterpret_cast<unsigned_vector>(product - no_exponent_of_words));
    // Without a term, the sum is zero for any exponent.
    top = top < least_exponent ? word_vector{} + least_exponent : top;
    const word_vector scale_bits = (scale_bias - top) << 23;
    const auto scale = reinterpret_cast<float_vector>(scale_bits);
    const word_vector sum = add_products(s, range, column, row, scale);
    extremes.sum = higher_of(extremes.sum, reinterpret_cast<unsigned_vector>(sum) + largest_sum);
    const auto total =
        reinterpret_cast<word_vector>(reinterpret_cast<unsigned_vector>(sum) +
                                      reinterpret_cast<unsigned_vector>(__builtin_convertvector(
                                          start.value * scale, word_vector)));
    const auto unit = reinterpret_cast<float_vector>((254 << 23) - scale_bits);
    const unsigned_vector raw = is_half ? rounded_to_odd(total) : truncated(total);
    const auto value =
        reinterpret_cast<unsigned_vector>(reinterpret_cast<float_vector>(raw) * unit);
    stored(d.words[0] + i, is_half ? halves_of(value) : value & mask);
  }
  return !extremes.is_refused();
}

// 8-bit floats: two steps over pairs of columns of A without C, then an addition of C.
bool run_two_steps(const matrix_site& site, const float_tile& s, const element_format& format,
                   result_tile& c) {
  result_tile d{};
  if (!run_step(site, s, 0, 2, format, d, d) || !run_step(site, s, 1, 2, format, d, d)) {
    return false;
  }
  word_vector special = {};
  for (int i = 0; i < product_columns * product_rows; i += vector_lanes) {
    u32* const words = c.words[0] + i;
    const element_vectors start = accumulators_of(format, words);
    const float_vector sum = accumulators_of(format, d.words[0] + i).value + start.value;
    // A float has the digits that prevent a wrong second rounding.
    const auto raw = reinterpret_cast<unsigned_vector>(sum);
    special |= start.special | ((raw & 0x7fff'ffff) >= 0x7f80'0000);
    stored(words, site.d_type == scalar_type::f16 ? halves_of(raw) : raw);
  }
  return !is_any(special);
}

// Whether the elements are multiples of a power of two that is 8 bits below the largest.
bool are_short(const float_tile& s, int a_top, int b_top) {
  multiple_check a{a_top - 7}, b{b_top - 7};
  for (int n = 0; n < 4 * s.elements * product_rows; n += vector_lanes) {
    a.add(loaded<float_vector>(s.a[0] + n));
  }
  for (int n = 0; n < s.elements * warp_size; n += vector_lanes) {
    b.add(loaded<float_vector>(s.b[0] + n));
  }
  return a.is_passed() && b.is_passed();
}

// Adds short numbers as floats if no sum drops bits. Returns false otherwise.
bool run_short(const matrix_site& site, const float_tile& s, const element_format& format,
               result_tile& tile) {
  constexpr int limit = 40, together = 4;
  constexpr i32 low_bits = 0x0007'0007;  // so many bits of random numbers are not all zero
  const bool is_random = site.a_type == scalar_type::f16 && is_any(s.used & low_bits);
  if (!s.is_half || is_random || site.fraction_bits != 25) return false;
  int a_top = highest_top(s.a_top[0], 4 * s.top_words * product_rows);
  int b_top = highest_top(s.b_top[0], s.top_words * warp_size);
  a_top = a_top == zero_top ? 0 : a_top;
  b_top = b_top == zero_top ? 0 : b_top;
  if (abs(a_top) > limit || abs(b_top) > limit || !are_short(s, a_top, b_top)) return false;
  const int unit = a_top + b_top - 14;
  const u32 highest_result = static_cast<u32>(127 + unit + 22) << 23;
  multiple_check start{unit};
  unsigned_vector highest = {};
  word_vector special = {};
  result_tile d;
  for (int i = 0; i < product_columns / together * product_rows; i += vector_lanes) {
    const int column = i / product_rows * together, row = i % product_rows;
    float_vector sums[together];
    for (int j = 0; j < together; ++j) {
      const element_vectors c = accumulators_of(format, tile.words[column + j] + row);
      special |= c.special;
      sums[j] = c.value;
      start.add(sums[j]);
    }
    for (int n = 0; n < s.elements; ++n) {
#pragma GCC unroll 16
      for (int each = 0; each < 4 * together; ++each) {
        const int t = each / together, j = each % together;
        const auto a = loaded<float_vector>(s.a[4 * n + t] + row);
        sums[j] = product_sum(a, repeated(s.b[n][4 * (column + j) + t]), sums[j]);
      }
    }
    for (int j = 0; j < together; ++j) {
      const auto raw = reinterpret_cast<unsigned_vector>(sums[j] + 0.0f);  // no zero has a sign
      highest = higher_of(highest, raw & 0x7fff'ffff);
      stored(d.words[column + j] + row, site.d_type == scalar_type::f16 ? halves_of(raw) : raw);
    }
  }
  if (!start.is_passed() || is_any(special | (highest > highest_result))) return false;
  tile = d;
  return true;
}

bool multiply_floats(const matrix_site& site, const product_sources& from, product_results& d) {
  float_tile s;
  if (!read_tile(site, from, s)) return false;
  result_tile c;
  read_c(site, from, c);
  const element_format format = format_of(site.c_type, false);
  const bool is_done = site.sums == addition::two_steps
                           ? run_two_steps(site, s, format, c)
                           : run_short(site, s, format, c) || run_step(site, s, 0, 1, format, c, c);
  if (!is_done) return false;
  store_d(site, c, d);
  return true;
}

// ---- integers

bool multiply_integers(const matrix_site& site, const product_sources& from, product_results& d) {
  integer_tile s;
  read_tile(site, from, s);
  result_tile results;
  const bool has_lower = site.rows > 8;
  const int words = site.b_count * 16 / site.width;
  for (int i = 0; i < 2; ++i) {
    visit_columns(from.c[i], from.c[has_lower ? i + 2 : i], [&](int row, word_vector* x) {
      for (int t = 0; t < 4; ++t) {
        const int column = 2 * t + i;
        const word_vector c = x[t];
        word_vector products = {};
        for (int n = 0; n < row_words * words; ++n) {
          const word_vector b = word_vector{} + s.b[n / 4][4 * column + n % 4];
          products += pair_products(loaded<word_vector>(s.a[n] + row), b);
        }
        const auto total = reinterpret_cast<word_vector>(
            reinterpret_cast<unsigned_vector>(c) + reinterpret_cast<unsigned_vector>(products));
        const word_vector limit =
            c < 0 ? word_vector{} + lowest_of<i32> : word_vector{} + highest_of<i32>;
        const word_vector overflows = (c ^ total) & (products ^ total);
        const word_vector clamped = overflows < 0 ? limit : total;
        stored(results.words[column] + row, site.is_saturating ? clamped : total);
      }
    });
  }
  alignas(64) u32 unused[warp_size];
  for (int i = 0; i < 2; ++i) {
    store_rows(results.words + i, 2, d[i], has_lower ? d[i + 2] : unused);
  }
  return true;
}

// ---- handlers

template <fast_multiply Multiply>
void multiply_matrices(warp& w, const instruction& instr) {
  const matrix_site& site = matrix_of(w, instr);
  source_list sources;
  if (!find_sources(w, site, 4, sources)) return;
  require_whole_warp(w, instr);
  product_results d;
  const product_sources from = sources_of(site, sources);
  if (!Multiply(site, from, d)) multiply_tile(w, instr, from, d);
  write_results(w, site, d);
}

template <fast_multiply Multiply>
void multiply_of_warpgroup(warp& w, const instruction& instr) {
  start_warpgroup_product(w, instr, Multiply);
}

template <fast_multiply Multiply>
void multiply_in_tensor_memory(warp& w, const instruction& instr) {
  start_tensor_product(w, instr, Multiply);
}

double quiet(double value) { return from_bits(bits(value) | u64{1} << 51); }

// Returns the first NaN of b, sum and a, else a * b + sum.
double chained(double a, double b, double sum) {
  if (b != b) return quiet(b);
  if (sum != sum) return quiet(sum);
  if (a != a) return quiet(a);
  const double result = fma(a, b, sum);
  return result == result ? result : from_bits(u64{0xfff8} << 48);
}

void multiply_doubles(warp& w, const instruction& instr) {
  const matrix_site& site = matrix_of(w, instr);
  source_list sources;
  if (!find_sources(w, site, 8, sources)) return;
  require_whole_warp(w, instr);
  const auto value = [&](int n, int lane) {
    return static_cast<const double*>(sources[static_cast<unsigned>(n)])[lane];
  };
  double results[4][warp_size];
  for (int n = 0; n < site.c_count; ++n) {
    for_active(w, [&](int l) {
      const int half = n >> 1, column = 2 * (l & 3) + (n & 1);
      double sum = value(site.a_count + site.b_count + n, l);
      for (int k = 0; k < site.depth; ++k) {
        const int block = k >> 2, t = k & 3;
        const double x = value(site.rows == 8 ? block : 2 * block + half, 4 * (l >> 2) + t);
        sum = chained(x, value(site.a_count + block, 4 * column + t), sum);
      }
      results[n][l] = sum;
    });
  }
  for (int n = 0; n < site.c_count; ++n) {
    double* to = w.at<double>(site.d[static_cast<unsigned>(n)]);
    for_active(w, [&](int l) { to[l] = results[n][l]; });
  }
}

constexpr handler_entry entries[] = {
    {"mma.f64", &multiply_doubles},
    {"mma.float", &multiply_matrices<multiply_floats>},
    {"mma.integer", &multiply_matrices<multiply_integers>},
    {"tcgen05.float", &multiply_in_tensor_memory<multiply_floats>},
    {"tcgen05.integer", &multiply_in_tensor_memory<multiply_integers>},
    {"wgmma.float", &multiply_of_warpgroup<multiply_floats>},
    {"wgmma.integer", &multiply_of_warpgroup<multiply_integers>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family matrix_handlers;
const handler_family matrix_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
