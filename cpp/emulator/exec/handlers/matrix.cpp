// SPDX-License-Identifier: Apache-2.0
// mma.sync of the frequent types: D = A * B + C of one warp, with the numerics of an H100.
//
// A vector holds an element of D in each lane, in the order of the registers of D: lane l has
// row l / 4 and column 2 * (l % 4) of a quarter of the tile. A product of two elements fits in a
// float. It is scaled so that the truncation to an integer removes the bits that the hardware
// drops. Other types, and tiles with an infinity or a NaN, take the general path.
#include <math.h>

#include "emulator/exec/lanes/matrix_tile.hpp"
#include "emulator/exec/matrix/rounding.hpp"
#include "emulator/exec/matrix/warpgroup.hpp"
#include "emulator/exec/tensor/tensor_product.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

using ptx::scalar_type;

// Exponents of the alignment between these limits need no subnormal scales or results.
constexpr i32 least_exponent = -100, highest_exponent = 90;
constexpr i32 no_exponent_of_words = -4096;  // larger exponents are of a nonzero term
constexpr i32 highest_power = 120;           // of a scale
constexpr i32 largest_sum = 0x7fff'ff00;     // whose float fits in 32 bits

// ---- C and D

// C or D has quarters: rows below 8 and even columns, odd columns, then the other rows.
int quarters_of(const matrix_site& site) { return site.rows / 4; }

// Stores the elements of a quarter of D. Quarters come in their order.
void store_quarter(const matrix_site& site, int i, const u32* from, product_results& d) {
  if (site.d_type != scalar_type::f16) {
    __builtin_memcpy(d[i], from, sizeof d[i]);
    return;
  }
  u32* to = d[i >> 1];
  for (int v = 0; v < warp_size; v += vector_lanes) {
    const auto x = loaded<unsigned_vector>(from + v);
    stored(to + v, i & 1 ? loaded<unsigned_vector>(to + v) | x << 16 : x);
  }
}

// ---- floating point

// The accumulators of a quarter: registers and the place of the element in them.
struct accumulator_source {
  const u32* words;
  int element;
  element_format format;
};
accumulator_source quarter_of(const matrix_site& site, const product_sources& from, int i) {
  const bool is_half = site.c_type == scalar_type::f16;
  return {from.c[is_half ? i >> 1 : i], is_half ? i & 1 : 0, format_of(site.c_type, false)};
}

float_vector power_of_two(const word_vector& power) {
  return reinterpret_cast<float_vector>((power + 127) << 23);
}

// C and the alignment of a quarter.
struct aligned_terms {
  alignas(64) i32 exponent[warp_size], c[warp_size];
  alignas(64) float scale[warp_size];  // of the products
};

// Aligns C, and finds the scales of the products. `t.exponent` has the largest exponents of the
// products. Returns false for the general path: special terms, and exponents near the limits.
bool align(const matrix_site& site, const float_tile& s, int i, const accumulator_source& c,
           aligned_terms& t) {
  word_vector refused = {};
  for (int v = 0; v < warp_size; v += vector_lanes) {
    const element_vectors start =
        read_elements(c.format, loaded<word_vector>(c.words + v), c.element);
    const auto product = loaded<word_vector>(t.exponent + v);
    const word_vector top = product > start.top ? product : start.top;
    refused |= start.special | (top > highest_exponent) |
               ((top > no_exponent_of_words) & (top < least_exponent));
    const word_vector exponent = top < least_exponent ? word_vector{} + least_exponent : top;
    const word_vector power = site.fraction_bits - exponent;
    word_vector product_power = power;
    if (s.is_wide) {
      product_power +=
          loaded<word_vector>(s.a_base[i >> 1] + v) + loaded<word_vector>(s.b_base[i & 1] + v);
      refused |= (product_power > highest_power) & (product > no_exponent_of_words);
      const word_vector limit = word_vector{} + highest_power;
      product_power = product_power > limit ? limit : product_power;
      product_power = product_power < -100 ? word_vector{} - 100 : product_power;
    }
    stored(t.exponent + v, exponent);
    stored(t.scale + v, power_of_two(product_power));
    stored(t.c + v, __builtin_convertvector(start.value * power_of_two(power), word_vector));
  }
  return !is_any(refused);
}

// Returns a sum as a float toward zero, and the same sum with the lowest bit set if the float
// drops bits. Sums are below 2^31 - 128.
struct truncated_sum {
  unsigned_vector toward_zero, odd;
};
truncated_sum truncated(const word_vector& sum) {
  const auto nearest_float = __builtin_convertvector(sum, float_vector);
  const auto raw = reinterpret_cast<word_vector>(nearest_float);
  const word_vector back = __builtin_convertvector(nearest_float, word_vector);
  const word_vector is_larger = sum < 0 ? back < sum : back > sum;
  const auto toward_zero = reinterpret_cast<unsigned_vector>(raw + is_larger);
  return {toward_zero, toward_zero | (reinterpret_cast<unsigned_vector>(back != sum) & 1)};
}

// Rounds floats to halves to nearest. A zero has no sign.
unsigned_vector halves_of(const unsigned_vector& raw) {
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

// Adds and rounds. Returns false if a sum is too large for 32 bits.
bool round_sums(const matrix_site& site, const aligned_terms& t, const i32 (*products)[warp_size],
                u32* to) {
  const bool is_half = site.d_type == scalar_type::f16;
  const u32 mask = ~u32{0} << (23 - site.result_fraction_bits);
  word_vector refused = {};
  for (int v = 0; v < warp_size; v += vector_lanes) {
    const auto c = loaded<word_vector>(t.c + v);
    const word_vector sum =
        loaded<word_vector>(products[0] + v) + loaded<word_vector>(products[1] + v);
    const word_vector total = reinterpret_cast<word_vector>(reinterpret_cast<unsigned_vector>(sum) +
                                                            reinterpret_cast<unsigned_vector>(c));
    const word_vector overflow = ((total ^ sum) & (total ^ c)) < 0;
    refused |= overflow | (total > largest_sum) | (total < -largest_sum);
    const truncated_sum rounded = truncated(total);
    const float_vector scale =
        power_of_two(loaded<word_vector>(t.exponent + v) - site.fraction_bits);
    if (is_half) {
      const float_vector odd = reinterpret_cast<float_vector>(rounded.odd) * scale;
      stored(to + v, halves_of(reinterpret_cast<unsigned_vector>(odd)));
    } else {
      const float_vector value = reinterpret_cast<float_vector>(rounded.toward_zero) * scale;
      stored(to + v, reinterpret_cast<unsigned_vector>(value) & mask);
    }
  }
  return !is_any(refused);
}

// Computes one step of the hardware for a quarter.
bool run_step(const matrix_site& site, const float_tile& s, int i, step_range range,
              const accumulator_source& c, u32* to) {
  alignas(64) i32 products[2][warp_size];
  aligned_terms terms;
  find_highest(s, i >> 1, i & 1, range, terms.exponent);
  if (!align(site, s, i, c, terms)) return false;
  add_products(s, i >> 1, i & 1, range, terms.scale, products);
  return round_sums(site, terms, products, to);
}

// 8-bit floats: two steps over pairs of columns of A without C, then an addition of C.
bool multiply_twice(const matrix_site& site, const float_tile& s, int i,
                    const accumulator_source& c, u32* d) {
  const bool is_half = site.d_type == scalar_type::f16;
  alignas(64) u32 sums[2][warp_size] = {};
  const int half_of_depth = site.depth / 2;
  for (int part = 0; part < 2; ++part) {
    const accumulator_source start{sums[part], 0, c.format};
    const step_range range{part * half_of_depth, (part + 1) * half_of_depth};
    if (!run_step(site, s, i, range, start, part ? d : sums[1])) return false;
  }
  for (int l = 0; l < warp_size; ++l) {
    const u32 word = c.words[l];
    d[l] =
        is_half ? sum_of_halves(d[l], word >> 16 * c.element & 0xffff) : sum_of_floats(d[l], word);
  }
  return true;
}

bool multiply_floats(const matrix_site& site, const product_sources& from, product_results& d) {
  float_tile s;
  if (!read_tile(site, from, s)) return false;
  alignas(64) u32 results[warp_size];
  for (int i = 0; i < 4; ++i) {
    const accumulator_source c = quarter_of(site, from, i);
    const bool is_done = site.sums == addition::two_steps
                             ? multiply_twice(site, s, i, c, results)
                             : run_step(site, s, i, {0, site.depth}, c, results);
    if (!is_done) return false;
    store_quarter(site, i, results, d);
  }
  return true;
}

// ---- integers

bool multiply_integers(const matrix_site& site, const product_sources& from, product_results& d) {
  integer_tile s;
  read_tile(site, from, s);
  for (int i = 0; i < quarters_of(site); ++i) {
    alignas(64) i32 sum[warp_size];
    add_products(s, i >> 1, i & 1, {0, site.depth}, sum);
    for (int v = 0; v < warp_size; v += vector_lanes) {
      const auto c = loaded<word_vector>(from.c[i] + v), products = loaded<word_vector>(sum + v);
      const auto total = reinterpret_cast<word_vector>(reinterpret_cast<unsigned_vector>(c) +
                                                       reinterpret_cast<unsigned_vector>(products));
      const word_vector limit =
          c < 0 ? word_vector{} + lowest_of<i32> : word_vector{} + highest_of<i32>;
      const word_vector overflows = (c ^ total) & (products ^ total);
      const word_vector clamped = overflows < 0 ? limit : total;
      stored(d[i] + v, site.is_saturating ? clamped : total);
    }
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
