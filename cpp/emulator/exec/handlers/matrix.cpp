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

register_layout layout_of(const matrix_site& site) {
  return {site.c_type == scalar_type::f16, site.d_type == scalar_type::f16, site.rows > 8};
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
                                                           const word_vector& c) {
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
                  (product < static_cast<u32>(127 + top_offset + least_exponent) - 1));
  }
};

// A step of the hardware: all columns of A or a half of them, and C.
struct step_site {
  int part, has_halves;
  const element_format& format;  // of C

  // Returns the part of a number of columns or words.
  step_range range(int count) const {
    const int size = count >> has_halves;
    return {part * size, (part + 1) * size};
  }
};

// Finds the scales that align the products of each element and C. A processor does this at once
// for several columns, whereas sums after each scale would wait for it.
[[gnu::always_inline]] inline void find_scales(const matrix_site& site, const float_tile& s,
                                               const step_site& step, column_group at,
                                               const accumulators (&start)[4],
                                               step_extremes& extremes,
                                               unsigned_vector (&scales)[4]) {
  const step_range range = step.range(s.top_words);
  const u32 scale_bias = (254u + site.fraction_bits) << 23;
  if (s.has_bytes()) {
    find_highest<byte_vector>(s, range, at, scales);
    // The lower bits of a word decide nothing.
#pragma GCC unroll 4
    for (unsigned_vector& each : scales) each >>= 1;
  } else {
    find_highest<unsigned_short_vector>(s, range, at, scales);
#pragma GCC unroll 4
    for (unsigned_vector& each : scales) {
      extremes.product = lower_of(extremes.product, (each & 0xffff) - 1);
      const auto offset = unsigned_short_vector{} + u16{top_offset};
      const auto last = unsigned_short_vector{} + u16{255};
      const auto field = reduced(reinterpret_cast<unsigned_short_vector>(each), offset);
      each = reinterpret_cast<unsigned_vector>(field < last ? field : last) << 23;
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    unsigned_vector top = higher_of(scales[j], start[j].magnitude);
    extremes.top = higher_of(extremes.top, top);
    extremes.least = lower_of(extremes.least, top - 1);
    // Without a term, the sum is zero for any exponent.
    top = higher_of(top, unsigned_vector{} + bits_of_power(least_exponent)) & infinite_bits;
    scales[j] = scale_bias - top;
  }
}

// Computes a step for columns of C or of an earlier step.
[[gnu::always_inline]] inline void run_step(const matrix_site& site, const float_tile& s,
                                            const step_site& step, column_group at,
                                            word_vector (&x)[4], step_extremes& extremes) {
  const u32 mask = ~u32{0} << (23 - site.result_fraction_bits);
  const bool is_half = site.d_type == scalar_type::f16;
  accumulators start[4];
  unsigned_vector scale_bits[4];
  float_vector scales[4];
  word_vector sums[4] = {};
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) start[j] = accumulators_of(step.format, x[j]);
  find_scales(site, s, step, at, start, extremes, scale_bits);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) scales[j] = reinterpret_cast<float_vector>(scale_bits[j]);
  add_products(s, step.range(s.elements), at, scales, sums);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const auto sum = reinterpret_cast<unsigned_vector>(sums[j]);
    extremes.sum = higher_of(extremes.sum, sum + largest_sum);
    const word_vector c = __builtin_convertvector(start[j].value * scales[j], word_vector);
    const auto total = reinterpret_cast<word_vector>(sum + reinterpret_cast<unsigned_vector>(c));
    const auto unit = reinterpret_cast<float_vector>((254u << 23) - scale_bits[j]);
    const unsigned_vector raw = is_half ? rounded_to_odd(total) : truncated(total);
    const auto value =
        reinterpret_cast<unsigned_vector>(reinterpret_cast<float_vector>(raw) * unit);
    x[j] = reinterpret_cast<word_vector>(is_half ? halves_of(value) : value & mask);
  }
}

// Adds C to the sums of products in D, to the nearest number. Returns false if C or a sum is not
// finite. Both have the same type, so that each lane adds its own elements.
bool add_c(const matrix_site& site, const element_format& format, const product_sources& from,
           product_results& d) {
  const bool is_half = site.d_type == scalar_type::f16;
  unsigned_vector highest = {};
  for (int i = 0; i < site.d_count * warp_size; i += vector_lanes) {
    u32* const to = d[0] + i;
    const u32* const c = from.c[i / warp_size] + i % warp_size;
    unsigned_vector result = {};
    for (int shift = 0; shift < (is_half ? 32 : 16); shift += 16) {
      const accumulators start = accumulators_of(format, loaded<word_vector>(c) >> shift);
      const accumulators products = accumulators_of(format, loaded<word_vector>(to) >> shift);
      const auto raw = reinterpret_cast<unsigned_vector>(products.value + start.value);
      // A float has the digits that prevent a wrong second rounding.
      highest = higher_of(highest, start.magnitude);
      highest = higher_of(highest, products.magnitude);
      highest = higher_of(highest, raw & 0x7fff'ffff);
      result |= (is_half ? halves_of(raw) : raw) << shift;
    }
    stored(to, result);
  }
  return !is_any(highest >= infinite_bits);
}

// Calls run(step, group, columns) for each step. Returns false if an added C or sum is not finite.
//
// 8-bit floats have two steps over pairs of columns of A without C, then an addition of C.
template <class Run>
[[gnu::always_inline]] inline bool run_steps(const matrix_site& site, const product_sources& from,
                                             product_results& d, Run run) {
  const element_format& format = format_of(site.c_type);
  const int has_steps = site.sums == addition::two_steps;
  visit_groups(
      layout_of(site), from,
      d, [&](column_group at, word_vector(&x)[4]) __attribute__((always_inline)) {
        if (has_steps) {
#pragma GCC unroll 4
          for (word_vector& each : x) each = word_vector{};
        }
#pragma GCC unroll 1
        for (int part = 0; part <= has_steps; ++part) {
          hide(part);
          run(step_site{part, has_steps, format}, at, x);
        }
      });
  return !has_steps || add_c(site, format, from, d);
}

// Returns false for the general path.
bool run_tile(const matrix_site& site, const product_sources& from, const float_tile& s,
              product_results& d) {
  step_extremes extremes;
  const bool is_finite = run_steps(
      site, from, d,
      [&](const step_site& step, column_group at, word_vector(&x)[4])
          __attribute__((always_inline)) { run_step(site, s, step, at, x, extremes); });
  return is_finite && !extremes.is_refused();
}

// ---- numbers with few bits

// Adds C and the products of integers. Sets lanes where C is no integer of few bits.
[[gnu::always_inline]] inline void run_integers(const matrix_site& site, const integer_tile& s,
                                                int words, int unit, const step_site& step,
                                                column_group at, word_vector (&x)[4],
                                                word_vector& is_wrong) {
  constexpr u32 limit = 1 << 26;  // the exponent of a larger C drops bits of products
  const bool is_half = site.d_type == scalar_type::f16;
  const float factor = from_bits(bits_of_power(unit)), inverse = from_bits(bits_of_power(-unit));
  word_vector sums[4] = {};
  add_pairs(s, step.range(words), at, sums);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const float_vector start = accumulators_of(step.format, x[j]).value * inverse;
    const word_vector integer = __builtin_convertvector(start, word_vector);
    const auto c_bits = reinterpret_cast<unsigned_vector>(integer);
    is_wrong |= __builtin_convertvector(integer, float_vector) != start;
    is_wrong |= c_bits + (limit - 1) >= 2 * limit - 1;
    const auto total =
        reinterpret_cast<word_vector>(c_bits + reinterpret_cast<unsigned_vector>(sums[j]));
    const unsigned_vector raw = is_half ? rounded_to_odd(total) : truncated(total);
    const auto value =
        reinterpret_cast<unsigned_vector>(reinterpret_cast<float_vector>(raw) * factor);
    x[j] = reinterpret_cast<word_vector>(is_half ? halves_of(value) : value);
  }
}

// The baseline of a processor that has wider vectors is seldom used, and saves the code.
#if defined(__x86_64__) && !defined(__AVX2__)
constexpr bool is_spare = true;
#else
constexpr bool is_spare = false;
#endif

// Adds numbers of few bits as integers, if no sum drops bits but the results. Returns false
// otherwise.
bool run_short(const matrix_site& site, const product_sources& from, tile_cache& cache,
               product_results& d) {
  constexpr u32 low_bits = 0x0007'0007;  // so many bits of random halves are not all zero
  const bool is_half = site.width == 16, has_steps = site.sums == addition::two_steps;
  if (is_spare || site.width == 32 || site.fraction_bits != 25 || site.c_type != site.d_type)
    return false;
  if (is_half && (from.a[0][0] | from.a[0][5] | from.b[0][2]) & low_bits) return false;
  if (has_steps && site.d_type == scalar_type::f16) return false;
  int unit = 0;
  // 16 products and C fit in 32 bits: the significands of 8-bit floats are less than 15/8.
  if (!read_tile(from, !is_half, is_half ? 26 : 27, unit, cache)) return false;
  const int words = is_half ? site.b_count : 2 * site.b_count;
  word_vector is_wrong = {};
  const bool is_finite = run_steps(
      site, from, d,
      [&](const step_site& step, column_group at, word_vector(&x)[4])
          __attribute__((always_inline)) {
            run_integers(site, cache.integers, words, unit, step, at, x, is_wrong);
          });
  return is_finite && !is_any(is_wrong);
}

bool multiply_floats(const matrix_site& site, const product_sources& from, product_results& d) {
  const bool has_steps = site.sums == addition::two_steps;
  if (has_steps && site.c_type != site.d_type) return false;
  tile_cache& cache = cached_tile();
  update(site, from, cache);
  if (run_short(site, from, cache, d)) return true;
  const bool is_special = read_tile(site.width, from, cache);
  if (!is_special && run_tile(site, from, cache.tile, d)) return true;
  finite_sources finite;
  special_sums sums;
  if (!move_specials(site, from, cache.tile, finite, sums)) return false;
  update(site, finite.sources, cache);
  read_tile(site.width, finite.sources, cache);
  if (!run_tile(site, finite.sources, cache.tile, d)) return false;
  place_specials(site, sums, d);
  return true;
}

// ---- integers

bool multiply_integers(const matrix_site& site, const product_sources& from, product_results& d) {
  integer_tile s;
  read_tile(site, from, s);
  const int words = site.b_count * 16 / site.width;
  visit_groups(
      layout_of(site), from,
      d, [&](column_group at, word_vector(&x)[4]) __attribute__((always_inline)) {
        word_vector sums[4] = {};
        add_pairs(s, {0, words}, at, sums);
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          const word_vector c = x[j], products = sums[j];
          const auto total = reinterpret_cast<word_vector>(
              reinterpret_cast<unsigned_vector>(c) + reinterpret_cast<unsigned_vector>(products));
          const word_vector limit =
              c < 0 ? word_vector{} + lowest_of<i32> : word_vector{} + highest_of<i32>;
          const word_vector overflows = (c ^ total) & (products ^ total);
          const word_vector clamped = overflows < 0 ? limit : total;
          x[j] = site.is_saturating ? clamped : total;
        }
      });
  return true;
}

// ---- handlers

template <fast_multiply Multiply>
void multiply_matrices(warp& w, const instruction& instr) {
  const matrix_site& site = matrix_of(w, instr);
  source_list sources;
  if (!find_sources(w, site, 4, sources)) return;
  require_whole_warp(w, instr);
  alignas(64) product_results d;
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
