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

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

using ptx::scalar_type;

constexpr int lowest_exponent = -133;  // of the alignment
constexpr i32 no_product = -63;        // the largest relative exponent of a zero product
constexpr i32 least_exact = -29;       // the lowest relative exponent that no clamp changed

// ---- C and D

// Elements of C or D by quarter: rows below 8 and even columns, odd columns, then the other rows.
struct quarters {
  alignas(64) u32 bits[4][warp_size];
};

int quarters_of(const matrix_site& site) { return site.rows / 4; }

void read_quarters(const matrix_site& site, const product_sources& from, quarters& c) {
  for (int i = 0; i < quarters_of(site); ++i) {
    const u32* words = from.c[site.c_type == scalar_type::f16 ? i >> 1 : i];
    const int shift = site.c_type == scalar_type::f16 ? 16 * (i & 1) : 0;
    const u32 mask = site.c_type == scalar_type::f16 ? 0xffff : ~0u;
    for (int l = 0; l < warp_size; ++l) c.bits[i][l] = words[l] >> shift & mask;
  }
}

void write_quarters(const matrix_site& site, const quarters& from, product_results& d) {
  if (site.d_type == scalar_type::f16) {
    for (int n = 0; n < 2; ++n) {
      for (int l = 0; l < warp_size; ++l) {
        d[n][l] = from.bits[2 * n][l] | from.bits[2 * n + 1][l] << 16;
      }
    }
    return;
  }
  for (int n = 0; n < quarters_of(site); ++n) {
    for (int l = 0; l < warp_size; ++l) d[n][l] = from.bits[n][l];
  }
}

// ---- floating point

// Accumulators of a quarter.
struct accumulators {
  alignas(64) float value[warp_size];
  alignas(64) i32 top[warp_size];
  bool is_special = false;
};

void read_accumulators(const u32* bits_of_c, scalar_type type, accumulators& c) {
  u32 special = 0;
  if (type == scalar_type::f16) {
    for (int l = 0; l < warp_size; ++l) {
      const i32 field = static_cast<i32>(bits_of_c[l] >> 10 & 31);
      c.value[l] = half::to_float(static_cast<u16>(bits_of_c[l]));
      const i32 top = (field ? field : 1) - 15;
      c.top[l] = bits_of_c[l] & 0x7fff ? top : lowest_exponent;
      special |= field == 31;
    }
  } else {
    for (int l = 0; l < warp_size; ++l) {
      const i32 field = static_cast<i32>(bits_of_c[l] >> 23 & 255);
      c.value[l] = from_bits(bits_of_c[l]);
      const i32 top = (field ? field : 1) - 127;
      c.top[l] = bits_of_c[l] & 0x7fff'ffff ? top : lowest_exponent;
      special |= field == 255;
    }
  }
  c.is_special = special;
}

// Finds the exponent of the alignment of each element. Returns false if the general path must.
bool find_exponents(const float_tile& s, int i, step_range range, i32* exponent) {
  const int h = i >> 1, c = i & 1;
  alignas(64) i8 highest[warp_size];
  find_highest(s, h, c, range, highest);
  u32 inexact = 0;
  for (int l = 0; l < warp_size; ++l) {
    const i32 relative = highest[l];
    const i32 top = relative + s.a_base[h][l] + s.b_base[c][l];
    inexact |= relative > no_product && relative < least_exact;
    exponent[l] = relative > no_product && top > exponent[l] ? top : exponent[l];
  }
  return !(s.is_wide && inexact);
}

// Returns the powers of two that scale products to the unit of the alignment.
void find_scales(const float_tile& s, int i, int fraction_bits, const i32* exponent, float* scale) {
  const int h = i >> 1, c = i & 1;
  for (int l = 0; l < warp_size; ++l) {
    const i32 base = s.is_wide ? s.a_base[h][l] + s.b_base[c][l] : 0;
    i32 power = fraction_bits - exponent[l] + base;
    power = power < -100 ? -100 : power > 100 ? 100 : power;
    scale[l] = from_bits(static_cast<u32>(power + 127) << 23);
  }
}

double power_of_two(i32 power) {
  return from_bits(static_cast<u64>(static_cast<u32>(power + 1023)) << 52);
}

// Rounds sums to floats toward zero. A subnormal result is left to the caller.
bool round_to_floats(const double* sum, const i32* exponent, const matrix_site& site, u32* to) {
  const u32 mask = ~u32{0} << (23 - site.result_fraction_bits);
  u32 subnormal = 0;
  for (int l = 0; l < warp_size; ++l) {
    const double exact = sum[l] * power_of_two(exponent[l] - site.fraction_bits);
    const u64 truncated = bits(exact) & ~u64{0x1fff'ffff};
    const u32 result = bits(static_cast<float>(from_bits(truncated)));
    const u32 magnitude = result & 0x7fff'ffff;
    to[l] = magnitude == 0x7f80'0000 ? result : result & mask;
    subnormal |= (magnitude < 0x0080'0000) & (sum[l] != 0);
  }
  return subnormal == 0;
}

// Rounds sums to halves to nearest. The float between keeps a bit for what it drops.
void round_to_halves(const double* sum, const i32* exponent, int fraction_bits, u32* to) {
  for (int l = 0; l < warp_size; ++l) {
    const u64 exact = bits(sum[l] * power_of_two(exponent[l] - fraction_bits));
    const u64 dropped = exact & 0x1fff'ffff;
    const u64 odd = (exact & ~u64{0x1fff'ffff}) | (dropped ? u64{0x2000'0000} : 0);
    to[l] = nearest<half>(static_cast<float>(from_bits(odd)));
  }
}

// Computes one step of the hardware for a quarter.
bool run_step(const matrix_site& site, const float_tile& s, int i, step_range range,
              const accumulators& c, u32* to) {
  alignas(64) i32 exponent[warp_size], products[2][warp_size];
  alignas(64) float scale[warp_size];
  alignas(64) double sum[warp_size];
  for (int l = 0; l < warp_size; ++l) exponent[l] = c.top[l];
  if (!find_exponents(s, i, range, exponent)) return false;
  find_scales(s, i, site.fraction_bits, exponent, scale);
  add_products(s, i >> 1, i & 1, range, scale, products);
  for (int l = 0; l < warp_size; ++l) {
    const double aligned =
        static_cast<double>(c.value[l]) * power_of_two(site.fraction_bits - exponent[l]);
    sum[l] = static_cast<double>(static_cast<i32>(aligned)) + static_cast<double>(products[0][l]) +
             static_cast<double>(products[1][l]);
  }
  if (site.d_type == scalar_type::f16) {
    round_to_halves(sum, exponent, site.fraction_bits, to);
  } else if (!round_to_floats(sum, exponent, site, to)) {
    const u32 mask = ~u32{0} << (23 - site.result_fraction_bits);
    for (int l = 0; l < warp_size; ++l) {
      const u32 result = float_of(static_cast<i64>(sum[l]), exponent[l] - site.fraction_bits);
      to[l] = (result & 0x7fff'ffff) == 0x7f80'0000 ? result : result & mask;
    }
  }
  return true;
}

bool multiply_once(const matrix_site& site, const float_tile& s, const quarters& c, quarters& d) {
  accumulators start;
  for (int i = 0; i < 4; ++i) {
    read_accumulators(c.bits[i], site.c_type, start);
    if (start.is_special) return false;
    if (!run_step(site, s, i, {0, site.depth}, start, d.bits[i])) return false;
  }
  return true;
}

// 8-bit floats: two steps over pairs of columns of A without C, then an addition of C.
bool multiply_twice(const matrix_site& site, const float_tile& s, const quarters& c, quarters& d) {
  const bool is_half = site.d_type == scalar_type::f16;
  accumulators start;
  const quarters zeros{};
  for (int i = 0; i < 4; ++i) {
    for (int part = 0; part < 2; ++part) {
      read_accumulators(part ? d.bits[i] : zeros.bits[i], site.d_type, start);
      const int first = part * site.depth / 2;
      if (start.is_special) return false;
      if (!run_step(site, s, i, {first, first + site.depth / 2}, start, d.bits[i])) return false;
    }
    for (int l = 0; l < warp_size; ++l) {
      u32& to = d.bits[i][l];
      to = is_half ? sum_of_halves(to, c.bits[i][l]) : sum_of_floats(to, c.bits[i][l]);
    }
  }
  return true;
}

bool multiply_floats(const matrix_site& site, const product_sources& from, product_results& d) {
  float_tile s;
  if (!read_tile(site, from, s)) return false;
  quarters c, results;
  read_quarters(site, from, c);
  const bool is_done = site.sums == addition::two_steps ? multiply_twice(site, s, c, results)
                                                        : multiply_once(site, s, c, results);
  if (is_done) write_quarters(site, results, d);
  return is_done;
}

// ---- integers

bool multiply_integers(const matrix_site& site, const product_sources& from, product_results& d) {
  integer_tile s;
  read_tile(site, from, s);
  quarters c, results;
  read_quarters(site, from, c);
  for (int i = 0; i < quarters_of(site); ++i) {
    alignas(64) i32 sum[warp_size];
    add_products(s, i >> 1, i & 1, {0, site.depth}, sum);
    for (int l = 0; l < warp_size; ++l) {
      i64 total = i64{static_cast<i32>(c.bits[i][l])} + sum[l];
      if (site.is_saturating) {
        total = total < lowest_of<i32> ? i64{lowest_of<i32>} : total;
        total = total > highest_of<i32> ? i64{highest_of<i32>} : total;
      }
      results.bits[i][l] = static_cast<u32>(total);
    }
  }
  write_quarters(site, results, d);
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
    {"wgmma.float", &multiply_of_warpgroup<multiply_floats>},
    {"wgmma.integer", &multiply_of_warpgroup<multiply_integers>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family matrix_handlers;
const handler_family matrix_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
