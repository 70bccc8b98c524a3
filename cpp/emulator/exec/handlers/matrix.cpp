// SPDX-License-Identifier: Apache-2.0
// mma.sync of the frequent types: D = A * B + C of one warp, with the numerics of an H100.
//
// A product of two elements fits in a float. It is scaled so that the truncation to an integer
// removes the bits that the hardware drops. Other types, and tiles with extreme exponents, take the
// general path.
#include <math.h>

#include "emulator/exec/lanes/matrix_tile.hpp"
#include "emulator/exec/matrix/warpgroup.hpp"
#include "emulator/exec/tensor/tensor_product.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

using ptx::scalar_type;

// Exponents of the alignment between these limits need no subnormal scales or results.
constexpr i32 least_exponent = -100, highest_exponent = 90;
// Sums of products whose float, after the addition of C, fits in 32 bits.
constexpr u32 largest_sum = 0x7fff'ff00 - (1 << 26);
constexpr u32 infinite_bits = 0x7f80'0000;

constexpr u32 bits_of_power(i32 exponent) { return static_cast<u32>(exponent + 127) << 23; }

// ---- C and D

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
#ifdef __F16C__
[[gnu::always_inline]] inline unsigned_vector halves_of(const unsigned_vector& raw) {
#ifdef __AVX512BW__
  const auto result = (unsigned_vector)_mm512_cvtepu16_epi32(_mm512_cvtps_ph((__m512)raw, 0));
#else
  const auto result = (unsigned_vector)_mm256_cvtepu16_epi32(_mm256_cvtps_ph((__m256)raw, 0));
#endif
  return result & 0x7fff ? result : unsigned_vector{};
}
#else
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
#endif

[[gnu::always_inline]] inline unsigned_vector lower_of(const unsigned_vector& a,
                                                       const unsigned_vector& b) {
  return a < b ? a : b;
}
[[gnu::always_inline]] inline unsigned_vector higher_of(const unsigned_vector& a,
                                                        const unsigned_vector& b) {
  return a > b ? a : b;
}

// The columns of a tile of C as numbers, and magnitudes that have the exponents of their terms.
struct accumulators {
  float_vector value;
  unsigned_vector magnitude;
};
[[gnu::always_inline]] inline accumulators accumulators_of(const element_format& format,
                                                           const u32* words) {
  const auto c = loaded<word_vector>(words);
  if (format.bits == 32) {
    return {reinterpret_cast<float_vector>(c), reinterpret_cast<unsigned_vector>(c & 0x7fff'ffff)};
  }
  const float_vector value = upper_elements(format, c << 16);
  const auto raw = reinterpret_cast<unsigned_vector>(value) & 0x7fff'ffff;
  const auto field =
      higher_of(raw, unsigned_vector{} + (static_cast<u32>(format.lowest_field) << 23));
  const unsigned_vector special = unsigned_vector{} + infinite_bits;
  const unsigned_vector finite = raw == 0 ? raw : field;
  return {value, raw >= static_cast<u32>(format.first_special) ? special : finite};
}

// The extremes of all elements, which decide whether the general path must compute them.
struct step_extremes {
  unsigned_vector top = {}, least = unsigned_vector{} - 1, product = unsigned_vector{} - 1;
  unsigned_vector sum = {};

  // Returns whether a term is special or has an exponent near the limits, or a sum exceeds 32 bits.
  bool is_refused() const {
    return is_any((top >= bits_of_power(highest_exponent + 1)) | (sum > 2 * largest_sum) |
                  (least < bits_of_power(least_exponent) - 1) |
                  (product < static_cast<u32>(top_bias + least_exponent) - 1));
  }
};

// A step of the hardware: the part of the columns of A, and C.
struct step_site {
  int part, parts;
  const element_format& format;  // of C
};

// Finds the scales that align the products of each element and C. A processor does this at once
// for several columns, whereas sums after each scale would wait for it.
[[gnu::always_inline]] inline void find_scales(const matrix_site& site, const float_tile& s,
                                               const step_site& step, const result_tile& c,
                                               step_extremes& extremes, result_tile& scales) {
  const int words = s.top_words / step.parts;
  const step_range range{step.part * words, (step.part + 1) * words};
  const u32 scale_bias = (254u + site.fraction_bits) << 23;
  const short_vector least = short_vector{} + i16{top_bias - 127}, last = least + i16{255};
  for (int i = 0; i < product_columns * product_rows; i += vector_lanes) {
    const auto magnitude = accumulators_of(step.format, c.words[0] + i).magnitude;
    const short_vector product = find_highest(s, range, i / product_rows, i % product_rows);
    const auto low = reinterpret_cast<unsigned_vector>(product) & 0xffff;
    extremes.product = lower_of(extremes.product, low - 1);
    short_vector field = product > least ? product : least;
    field = field < last ? field : last;
    unsigned_vector top = higher_of(reinterpret_cast<unsigned_vector>(field) << 23, magnitude);
    extremes.top = higher_of(extremes.top, top);
    extremes.least = lower_of(extremes.least, top - 1);
    // Without a term, the sum is zero for any exponent.
    top = higher_of(top, unsigned_vector{} + bits_of_power(least_exponent)) & infinite_bits;
    stored(scales.words[0] + i, scale_bias - top);
  }
}

// Computes a step. Returns false for the general path.
bool run_step(const matrix_site& site, const float_tile& s, const step_site& step,
              const result_tile& c, result_tile& d) {
  const int columns = s.elements / step.parts;
  const step_range range{step.part * columns, (step.part + 1) * columns};
  const u32 mask = ~u32{0} << (23 - site.result_fraction_bits);
  const bool is_half = site.d_type == scalar_type::f16;
  step_extremes extremes;
  result_tile scales;
  find_scales(site, s, step, c, extremes, scales);
  for (int i = 0; i < product_columns * product_rows; i += vector_lanes) {
    const float_vector start = accumulators_of(step.format, c.words[0] + i).value;
    const auto scale_bits = loaded<unsigned_vector>(scales.words[0] + i);
    const auto scale = reinterpret_cast<float_vector>(scale_bits);
    const word_vector sum = add_products(s, range, i / product_rows, i % product_rows, scale);
    extremes.sum = higher_of(extremes.sum, reinterpret_cast<unsigned_vector>(sum) + largest_sum);
    const auto total = reinterpret_cast<word_vector>(
        reinterpret_cast<unsigned_vector>(sum) +
        reinterpret_cast<unsigned_vector>(__builtin_convertvector(start * scale, word_vector)));
    const auto unit = reinterpret_cast<float_vector>((254u << 23) - scale_bits);
    const unsigned_vector raw = is_half ? rounded_to_odd(total) : truncated(total);
    const auto value =
        reinterpret_cast<unsigned_vector>(reinterpret_cast<float_vector>(raw) * unit);
    stored(d.words[0] + i, is_half ? halves_of(value) : value & mask);
  }
  return !extremes.is_refused();
}

// Adds the sums of products to C, to the nearest number. Returns false if a sum is not finite.
bool add_c(const matrix_site& site, const element_format& format, const result_tile& d,
           result_tile& c) {
  unsigned_vector highest = {};
  for (int i = 0; i < product_columns * product_rows; i += vector_lanes) {
    u32* const words = c.words[0] + i;
    const accumulators start = accumulators_of(format, words);
    const accumulators products = accumulators_of(format, d.words[0] + i);
    const auto raw = reinterpret_cast<unsigned_vector>(products.value + start.value);
    // A float has the digits that prevent a wrong second rounding.
    highest = higher_of(highest, start.magnitude);
    highest = higher_of(highest, products.magnitude);
    highest = higher_of(highest, raw & 0x7fff'ffff);
    stored(words, site.d_type == scalar_type::f16 ? halves_of(raw) : raw);
  }
  return !is_any(highest >= infinite_bits);
}

// 8-bit floats: two steps over pairs of columns of A without C, then an addition of C.
bool run_two_steps(const matrix_site& site, const float_tile& s, const element_format& format,
                   result_tile& c) {
  result_tile d{};
  if (!run_step(site, s, {0, 2, format}, d, d) || !run_step(site, s, {1, 2, format}, d, d)) {
    return false;
  }
  return add_c(site, format, d, c);
}

// ---- numbers with few bits

// Adds C and the products of integers, of words of A from `first` to `last`. Returns false if C is
// no integer of few bits.
bool run_integers(const matrix_site& site, const integer_tile& s, int first, int last, int unit,
                  const element_format& format, const result_tile& c, result_tile& d) {
  constexpr u32 limit = 1 << 26;  // the exponent of a larger C drops bits of products
  const bool is_half = site.d_type == scalar_type::f16;
  const float factor = from_bits(bits_of_power(unit)), inverse = from_bits(bits_of_power(-unit));
  word_vector is_wrong = {};
  for (int i = 0; i < product_columns * product_rows; i += vector_lanes) {
    const float_vector start = accumulators_of(format, c.words[0] + i).value * inverse;
    const word_vector integer = __builtin_convertvector(start, word_vector);
    const auto c_bits = reinterpret_cast<unsigned_vector>(integer);
    is_wrong |= __builtin_convertvector(integer, float_vector) != start;
    is_wrong |= c_bits + (limit - 1) >= 2 * limit - 1;
    const word_vector sum = pair_sum(s, first, last, i / product_rows, i % product_rows);
    const auto total =
        reinterpret_cast<word_vector>(c_bits + reinterpret_cast<unsigned_vector>(sum));
    const unsigned_vector raw = is_half ? rounded_to_odd(total) : truncated(total);
    const auto value =
        reinterpret_cast<unsigned_vector>(reinterpret_cast<float_vector>(raw) * factor);
    stored(d.words[0] + i, is_half ? halves_of(value) : value);
  }
  return !is_any(is_wrong);
}

// The baseline of a processor that has wider vectors is seldom used, and saves the code.
#if defined(__x86_64__) && !defined(__AVX2__)
constexpr bool is_spare = true;
#else
constexpr bool is_spare = false;
#endif

// Adds numbers of few bits as integers, if no sum drops bits but the results. Returns false
// otherwise.
bool run_short(const matrix_site& site, const product_sources& from, result_tile& c) {
  constexpr u32 low_bits = 0x0007'0007;  // so many bits of random halves are not all zero
  const bool is_half = site.width == 16, has_steps = site.sums == addition::two_steps;
  if (is_spare || site.width == 32 || site.fraction_bits != 25 || site.c_type != site.d_type)
    return false;
  if (is_half && (from.a[0][0] | from.a[0][5] | from.b[0][2]) & low_bits) return false;
  if (has_steps && site.d_type == scalar_type::f16) return false;
  int unit = 0;
  integer_tile s;
  // 16 products and C fit in 32 bits: the significands of 8-bit floats are less than 15/8.
  if (!read_tile(site, from, is_half ? 26 : 27, unit, s)) return false;
  const element_format& format = format_of(site.c_type);
  const int words = is_half ? site.b_count : 2 * site.b_count;
  result_tile d{};
  if (!has_steps) {
    if (!run_integers(site, s, 0, words, unit, format, c, d)) return false;
    c = d;
    return true;
  }
  return run_integers(site, s, 0, words / 2, unit, format, d, d) &&
         run_integers(site, s, words / 2, words, unit, format, d, d) && add_c(site, format, d, c);
}

bool run_tile(const matrix_site& site, const float_tile& s, result_tile& c) {
  const element_format& format = format_of(site.c_type);
  if (site.sums == addition::two_steps) return run_two_steps(site, s, format, c);
  return run_step(site, s, {0, 1, format}, c, c);
}

bool multiply_floats(const matrix_site& site, const product_sources& from, product_results& d) {
  result_tile c;
  read_c(site, from, c);
  if (run_short(site, from, c)) {
    store_d(site, c, d);
    return true;
  }
  float_tile s;
  const bool is_special = read_tile(site, from, s);
  if (is_special || !run_tile(site, s, c)) {
    special_sums sums;
    read_c(site, from, c);
    if (!move_specials(site, s, c, sums) || !run_tile(site, s, c)) return false;
    place_specials(site, sums, c);
  }
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
        const word_vector products = pair_sum(s, 0, words, column, row);
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
