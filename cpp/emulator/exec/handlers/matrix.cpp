// SPDX-License-Identifier: Apache-2.0
// mma.sync: D = A * B + C of one warp, with the numerics that were measured on an H100.
//
// A floating-point step aligns C and all products at the largest exponent, truncates each to 25
// fraction bits, adds them exactly and rounds once. The loops run over the 8 columns of B.
#include <math.h>

#include "emulator/exec/lanes/half.hpp"
#include "emulator/exec/matrix/matrix_site.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

using ptx::scalar_type;

constexpr int columns = 8, max_rows = 16, max_depth = 16;
constexpr int fraction_bits = 25;      // of an aligned term
constexpr int lowest_exponent = -133;  // of the alignment
constexpr i32 no_exponent = -100'000;  // of a zero

// Sources of lanes that arrive in several splits, which have separate registers.
struct gathered_sources {
  alignas(64) u64 value[16][warp_size];
};
gathered_sources& gathered() {
  static thread_local gathered_sources sources;
  return sources;
}

template <class T>
void gather(warp& w, const operand_slot* slots, int count, int first) {
  for (int n = 0; n < count; ++n) {
    const T* from = w.at<T>(slots[n]);
    T* to = reinterpret_cast<T*>(gathered().value[first + n]);
    for_active(w, [&](int l) { to[l] = from[l]; });
  }
}

// Locates the sources of all lanes: A, B, C, one after another.
template <class T>
bool find_sources(warp& w, const matrix_site& site, const T* (&source)[16]) {
  const int b = site.a_count, c = b + site.b_count;
  if (w.step == exchange_step::write_and_read) {
    for (int n = 0; n < site.a_count; ++n) source[n] = w.at<T>(site.a[n]);
    for (int n = 0; n < site.b_count; ++n) source[b + n] = w.at<T>(site.b[n]);
    for (int n = 0; n < site.c_count; ++n) source[c + n] = w.at<T>(site.c[n]);
    return true;
  }
  if (w.step == exchange_step::write) {
    gather<T>(w, site.a.data(), site.a_count, 0);
    gather<T>(w, site.b.data(), site.b_count, b);
    gather<T>(w, site.c.data(), site.c_count, c);
    return false;
  }
  for (int n = 0; n < 16; ++n) source[n] = reinterpret_cast<const T*>(gathered().value[n]);
  return true;
}

// ---- positions of elements

// A element with its bits in a register. `width` is its size in bits.
u32 a_element(const u32* const* a, const matrix_site& site, int width, int row, int k) {
  const int per_register = 32 / width, group = row & 7;
  const int block = k / per_register / 4, t = k / per_register % 4;
  const int n = site.rows == 8 ? block : 2 * block + (row >> 3);
  return a[n][4 * group + t] >> (k % per_register * width);
}
u32 b_element(const u32* const* b, int width, int k, int column) {
  const int per_register = 32 / width;
  return b[k / per_register / 4][4 * column + k / per_register % 4] >> (k % per_register * width);
}
// C and D of 32 bits: register and lane of an element.
int c_register(int row, int column) { return 2 * (row >> 3) + (column & 1); }
int c_lane(int row, int column) { return 4 * (row & 7) + column / 2; }

// ---- floating point

// A finite number is sig * 2^(top - 10), with the hidden bit in sig.
struct term {
  i32 sig, top;
  bool is_negative, is_infinite, is_nan;
};

template <int Exponent, int Fraction>
term decoded(u32 bits) {
  constexpr int bias = (1 << (Exponent - 1)) - 1, last = (1 << Exponent) - 1;
  const int field = static_cast<int>(bits >> Fraction & last);
  const u32 fraction = bits & ((1u << Fraction) - 1);
  term result{};
  result.is_negative = bits >> (Exponent + Fraction) & 1;
  result.is_nan = field == last && fraction;
  result.is_infinite = field == last && !fraction;
  if (field == last) return result;
  result.sig = static_cast<i32>(field ? fraction | 1u << Fraction : fraction) << (10 - Fraction);
  result.top = result.sig ? (field ? field : 1) - bias : no_exponent;
  return result;
}
// e4m3 has no infinity: only all ones is NaN.
term decoded_e4m3(u32 bits) {
  const u32 magnitude = bits & 0x7f, field = magnitude >> 3;
  term result{};
  result.is_negative = bits & 0x80;
  result.is_nan = magnitude == 0x7f;
  if (result.is_nan) return result;
  result.sig = static_cast<i32>(field ? (magnitude & 7) | 8 : magnitude) << 7;
  result.top = result.sig ? static_cast<i32>(field ? field : 1) - 7 : no_exponent;
  while (result.sig && result.sig >> 10 == 0) {  // the hardware widens it to a normal f16
    result.sig <<= 1;
    --result.top;
  }
  return result;
}
term decoded_as(scalar_type type, u32 bits) {
  switch (type) {
    case scalar_type::f16:
      return decoded<5, 10>(bits & 0xffff);
    case scalar_type::bf16:
      return decoded<8, 7>(bits & 0xffff);
    case scalar_type::tf32:
      return decoded<8, 10>(bits >> 13);
    case scalar_type::e4m3:
      return decoded_e4m3(bits & 0xff);
    default:
      return decoded<5, 2>(bits & 0xff);
  }
}

// Sources of one step, with zeros for absent rows. Sign is 0 or -1.
struct step_sources {
  i32 a_sig[max_rows][max_depth], a_top[max_rows][max_depth];
  i32 b_sig[max_depth][columns], b_top[max_depth][columns];
  bool a_is_infinite[max_rows][max_depth], a_is_nan[max_rows][max_depth];
  bool b_is_infinite[max_depth][columns], b_is_nan[max_depth][columns];
  bool is_special = false;
  int rows, depth;
};

// Returns the significand with its sign. An infinity has the significand one.
i32 signed_significand(const term& x) {
  const i32 magnitude = x.is_infinite ? 1 : x.sig;
  return x.is_negative ? -magnitude : magnitude;
}
void set_a(step_sources& s, int row, int k, const term& x) {
  s.a_sig[row][k] = signed_significand(x);
  s.a_top[row][k] = x.top;
  s.a_is_infinite[row][k] = x.is_infinite;
  s.a_is_nan[row][k] = x.is_nan;
  s.is_special |= x.is_infinite || x.is_nan;
}
void set_b(step_sources& s, int k, int column, const term& x) {
  s.b_sig[k][column] = signed_significand(x);
  s.b_top[k][column] = x.top;
  s.b_is_infinite[k][column] = x.is_infinite;
  s.b_is_nan[k][column] = x.is_nan;
  s.is_special |= x.is_infinite || x.is_nan;
}

// An accumulator, with 25 fraction bits.
struct accumulator {
  i64 sig;
  i32 top;
  bool is_infinite, is_nan;
};
accumulator accumulator_of(u32 bits, bool is_half) {
  accumulator result{};
  if (is_half) {
    const term x = decoded<5, 10>(bits & 0xffff);
    result = {i64{x.sig} << (fraction_bits - 10), x.top, x.is_infinite, x.is_nan};
    if (x.is_infinite) result.sig = 1;
    if (x.is_negative) result.sig = -result.sig;
    return result;
  }
  const u32 field = bits >> 23 & 0xff, fraction = bits & 0x7f'ffff;
  result.is_nan = field == 0xff && fraction;
  result.is_infinite = field == 0xff && !fraction;
  result.sig = i64{field ? fraction | 0x80'0000 : fraction} << (fraction_bits - 23);
  result.top = result.sig ? static_cast<i32>(field ? field : 1) - 127 : no_exponent;
  if (bits >> 31) result.sig = -result.sig;
  return result;
}

int top_bit(u64 magnitude) { return 63 - __builtin_clzll(magnitude); }

// Returns sum * 2^unit toward zero.
u32 float_of(i64 sum, int unit) {
  if (sum == 0) return 0;
  const u32 sign = sum < 0 ? 0x8000'0000u : 0;
  const u64 magnitude = sum < 0 ? u64{0} - static_cast<u64>(sum) : static_cast<u64>(sum);
  const int exponent = top_bit(magnitude) + unit;
  if (exponent > 127) return sign | 0x7f80'0000u;
  const int normal = exponent < -126 ? -126 : exponent;
  const int shift = normal - 23 - unit;
  const u64 truncated = shift >= 64 ? 0 : shift >= 0 ? magnitude >> shift : magnitude << -shift;
  if (truncated == 0) return 0;
  return sign | static_cast<u32>((static_cast<u64>(normal + 126) << 23) + truncated);
}

// Returns sum * 2^unit to nearest even.
u32 half_of(i64 sum, int unit) {
  if (sum == 0) return 0;
  const u32 sign = sum < 0 ? 0x8000u : 0;
  const u64 magnitude = sum < 0 ? u64{0} - static_cast<u64>(sum) : static_cast<u64>(sum);
  const int exponent = top_bit(magnitude) + unit;
  if (exponent > 15) return sign | 0x7c00u;
  const int normal = exponent < -14 ? -14 : exponent;
  const int shift = normal - 10 - unit;
  u64 rounded = 0;
  if (shift <= 0) {
    rounded = magnitude << -shift;
  } else if (shift < 63) {
    const u64 remainder = magnitude & ((u64{1} << shift) - 1);
    rounded = magnitude >> shift;
    rounded += rounds_up(to_nearest, false, rounded & 1, remainder, u64{1} << shift);
  }
  if (rounded == 0) return 0;
  const u64 result = (static_cast<u64>(normal + 14) << 10) + rounded;
  return sign | (result >= 0x7c00 ? 0x7c00u : static_cast<u32>(result));
}

struct step_results {
  u32 bits[max_rows][columns];
};

// Returns the result of an element with a NaN or an infinity, or 1 if it has none.
u32 special_result(const step_sources& s, int row, int column, const accumulator& c, bool is_half) {
  bool is_nan = c.is_nan, has_plus = c.is_infinite && c.sig > 0;
  bool has_minus = c.is_infinite && c.sig < 0;
  for (int k = 0; k < s.depth; ++k) {
    const bool is_infinite = s.a_is_infinite[row][k] || s.b_is_infinite[k][column];
    is_nan |= s.a_is_nan[row][k] || s.b_is_nan[k][column];
    if (!is_infinite) continue;
    const i32 a = s.a_sig[row][k], b = s.b_sig[k][column];
    is_nan |= a == 0 || b == 0;
    ((a < 0) != (b < 0) ? has_minus : has_plus) = true;
  }
  if (is_nan || (has_plus && has_minus)) return is_half ? 0x7fffu : 0x7fff'ffffu;
  const u32 infinity = is_half ? 0x7c00u : 0x7f80'0000u, sign = is_half ? 0x8000u : 0x8000'0000u;
  if (has_plus) return infinity;
  return has_minus ? sign | infinity : 1;
}

// Adds the products of a row, with the unit 2^(exponent - 25). Two sums prevent an overflow.
[[gnu::always_inline]] inline void add_products(const step_sources& s, int row, const i32* exponent,
                                                i64* total) {
  i32 sum[2][columns] = {};
  for (int k = 0; k < s.depth; ++k) {
    const i32 a = s.a_sig[row][k], a_top = s.a_top[row][k];
    i32* to = sum[k & 1];
#pragma GCC ivdep
    for (int j = 0; j < columns; ++j) {
      const i32 product = a * s.b_sig[k][j];
      const u32 magnitude = static_cast<u32>(product < 0 ? -product : product);
      i32 distance = exponent[j] - (a_top + s.b_top[k][j]);
      distance = distance > 31 ? 31 : distance;
      const i32 aligned = static_cast<i32>(magnitude << (fraction_bits - 20) >> (distance & 31));
      to[j] += product < 0 ? -aligned : aligned;
    }
  }
  for (int j = 0; j < columns; ++j) total[j] += i64{sum[0][j]} + sum[1][j];
}

[[gnu::always_inline]] inline void find_exponents(const step_sources& s, int row, i32* exponent) {
  for (int k = 0; k < s.depth; ++k) {
    const i32 a_top = s.a_top[row][k];
#pragma GCC ivdep
    for (int j = 0; j < columns; ++j) {
      const i32 top = a_top + s.b_top[k][j];
      exponent[j] = top > exponent[j] ? top : exponent[j];
    }
  }
}

// Computes one step of the hardware. `c` contains the accumulators, then the results.
void run_step(const step_sources& s, bool is_half, step_results& c) {
  for (int row = 0; row < s.rows; ++row) {
    accumulator start[columns];
    i32 exponent[columns];
    i64 total[columns];
    bool is_special = s.is_special;
    for (int j = 0; j < columns; ++j) {
      start[j] = accumulator_of(c.bits[row][j], is_half);
      is_special |= start[j].is_infinite || start[j].is_nan;
      exponent[j] = start[j].top > lowest_exponent ? start[j].top : lowest_exponent;
    }
    find_exponents(s, row, exponent);
    for (int j = 0; j < columns; ++j) {
      const int distance = exponent[j] - start[j].top;
      const i64 magnitude = start[j].sig < 0 ? -start[j].sig : start[j].sig;
      const i64 aligned = distance > 62 ? 0 : magnitude >> distance;
      total[j] = start[j].sig < 0 ? -aligned : aligned;
    }
    add_products(s, row, exponent, total);
    for (int j = 0; j < columns; ++j) {
      const u32 special = is_special ? special_result(s, row, j, start[j], is_half) : 1;
      const int unit = exponent[j] - fraction_bits;
      c.bits[row][j] = special != 1 ? special
                       : is_half    ? half_of(total[j], unit)
                                    : float_of(total[j], unit);
    }
  }
}

// f16, bf16 and tf32: one step over all of K.
void multiply_floats(const matrix_site& site, const u32* const* source, step_results& c) {
  step_sources s;
  s.rows = site.rows;
  s.depth = site.depth;
  const int width = site.a_type == scalar_type::tf32 ? 32 : 16;
  for (int k = 0; k < s.depth; ++k) {
    for (int row = 0; row < s.rows; ++row) {
      set_a(s, row, k, decoded_as(site.a_type, a_element(source, site, width, row, k)));
    }
    for (int j = 0; j < columns; ++j) {
      set_b(s, k, j, decoded_as(site.b_type, b_element(source + site.a_count, width, k, j)));
    }
  }
  run_step(s, site.c_type == scalar_type::f16, c);
}

u32 sum_of_halves(u32 a, u32 b) {
  const double sum =
      double{half::to_float(static_cast<u16>(a))} + double{half::to_float(static_cast<u16>(b))};
  return rounded_to<half>(sum, to_nearest);
}
u32 sum_of_floats(u32 a, u32 b) {
  const float sum = from_bits(a) + from_bits(b);
  return sum == sum ? bits(sum) : 0x7fff'ffffu;
}

// 8-bit floats: two steps over pairs of columns of A without C, then an addition of C.
void multiply_small_floats(const matrix_site& site, const u32* const* source, step_results& c) {
  const bool is_half = site.c_type == scalar_type::f16;
  step_results sum{};
  for (int half_of_depth = 0; half_of_depth < 2; ++half_of_depth) {
    step_sources s;
    s.rows = site.rows;
    s.depth = site.depth / 2;
    for (int n = 0; n < s.depth; ++n) {
      const int k = n / 2 * 4 + 2 * half_of_depth + n % 2;
      for (int row = 0; row < s.rows; ++row) {
        set_a(s, row, n, decoded_as(site.a_type, a_element(source, site, 8, row, k)));
      }
      for (int j = 0; j < columns; ++j) {
        set_b(s, n, j, decoded_as(site.b_type, b_element(source + site.a_count, 8, k, j)));
      }
    }
    run_step(s, is_half, sum);
  }
  for (int row = 0; row < site.rows; ++row) {
    for (int j = 0; j < columns; ++j) {
      u32& to = c.bits[row][j];
      to = is_half ? sum_of_halves(sum.bits[row][j], to) : sum_of_floats(sum.bits[row][j], to);
    }
  }
}

// ---- integers

i32 integer_of(scalar_type type, u32 element) {
  switch (type) {
    case scalar_type::s8:
      return static_cast<i8>(element);
    case scalar_type::u8:
      return static_cast<u8>(element);
    case scalar_type::s4:
      return static_cast<i32>(element << 28) >> 28;
    default:
      return static_cast<i32>(element & 15);
  }
}

void multiply_integers(const matrix_site& site, const u32* const* source, step_results& c) {
  const bool is_byte = site.a_type == scalar_type::s8 || site.a_type == scalar_type::u8;
  const int width = is_byte ? 8 : 4;
  const u32* const* b = source + site.a_count;
  i32 column_of[64][columns];
  for (int k = 0; k < site.depth; ++k) {
    for (int j = 0; j < columns; ++j) {
      column_of[k][j] = integer_of(site.b_type, b_element(b, width, k, j));
    }
  }
  for (int row = 0; row < site.rows; ++row) {
    i32 sum[columns] = {};
    for (int k = 0; k < site.depth; ++k) {
      const i32 a = integer_of(site.a_type, a_element(source, site, width, row, k));
      for (int j = 0; j < columns; ++j) sum[j] += a * column_of[k][j];
    }
    for (int j = 0; j < columns; ++j) {
      i64 total = i64{static_cast<i32>(c.bits[row][j])} + sum[j];
      if (site.is_saturating) {
        total = total < lowest_of<i32>    ? i64{lowest_of<i32>}
                : total > highest_of<i32> ? i64{highest_of<i32>}
                                          : total;
      }
      c.bits[row][j] = static_cast<u32>(total);
    }
  }
}

void multiply_bits(const matrix_site& site, const u32* const* source, step_results& c) {
  const u32* const* b = source + site.a_count;
  for (int row = 0; row < site.rows; ++row) {
    for (int j = 0; j < columns; ++j) {
      u32 count = 0;
      for (int k = 0; k < site.depth; k += 32) {
        const u32 x = a_element(source, site, 32, row, k / 32), y = b_element(b, 32, k / 32, j);
        const u32 both = site.bits == bit_product::and_popc ? x & y : x ^ y;
        count += static_cast<u32>(__builtin_popcount(both));
      }
      c.bits[row][j] += count;
    }
  }
}

// ---- handlers

using multiply = void (*)(const matrix_site&, const u32* const*, step_results&);

template <multiply Multiply>
void multiply_matrices(warp& w, const instruction& instr) {
  const matrix_site& site = matrix_of(w, instr);
  const u32* source[16];
  if (!find_sources(w, site, source)) return;
  require_whole_warp(w, instr);
  const u32* const* from = source + site.a_count + site.b_count;
  const bool is_half = site.c_type == scalar_type::f16;
  step_results c{};
  for (int row = 0; row < site.rows; ++row) {
    for (int j = 0; j < columns; ++j) {
      const u32 word = from[is_half ? row >> 3 : c_register(row, j)][c_lane(row, j)];
      c.bits[row][j] = is_half ? word >> 16 * (j & 1) & 0xffff : word;
    }
  }
  Multiply(site, source, c);
  for (int n = 0; n < site.c_count; ++n) {
    u32* to = w.at<u32>(site.d[n]);
    for_active(w, [&](int l) {
      const int group = l >> 2, first = 2 * (l & 3);
      to[l] = is_half ? c.bits[group + 8 * n][first] | c.bits[group + 8 * n][first + 1] << 16
                      : c.bits[group + 8 * (n >> 1)][first + (n & 1)];
    });
  }
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
  const double* source[16];
  if (!find_sources(w, site, source)) return;
  require_whole_warp(w, instr);
  const double* const* b = source + site.a_count;
  const double* const* c = b + site.b_count;
  double results[4][warp_size];
  for (int n = 0; n < site.c_count; ++n) {
    for_active(w, [&](int l) {
      const int half = n >> 1, column = 2 * (l & 3) + (n & 1);
      double sum = c[n][l];
      for (int k = 0; k < site.depth; ++k) {
        const int block = k >> 2, t = k & 3;
        const double x = source[site.rows == 8 ? block : 2 * block + half][4 * (l >> 2) + t];
        sum = chained(x, b[block][4 * column + t], sum);
      }
      results[n][l] = sum;
    });
  }
  for (int n = 0; n < site.c_count; ++n) {
    double* to = w.at<double>(site.d[n]);
    for_active(w, [&](int l) { to[l] = results[n][l]; });
  }
}

constexpr handler_entry entries[] = {
    {"mma.b1", &multiply_matrices<multiply_bits>},
    {"mma.f64", &multiply_doubles},
    {"mma.float", &multiply_matrices<multiply_floats>},
    {"mma.integer", &multiply_matrices<multiply_integers>},
    {"mma.small_float", &multiply_matrices<multiply_small_floats>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family matrix_handlers;
const handler_family matrix_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
