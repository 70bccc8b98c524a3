// SPDX-License-Identifier: Apache-2.0
// Infinities and NaNs among the terms of mma. They alone decide the results that they reach.
#include "emulator/exec/lanes/matrix_tile.hpp"

namespace halfwarp::emulator::exec {
namespace {

using namespace baseline;

constexpr i32 infinity = 0x7f80'0000, nan = 0x7fff'ffff, sign_bit = lowest_of<i32>;

// Returns infinities, NaNs, zeros, and the signs of other numbers. Clears the first two.
word_vector split(const element_format& format, const word_vector& value, float_vector& special) {
  const word_vector magnitude = value & ~sign_bit, sign = value & sign_bit;
  const word_vector is_special = magnitude >= format.first_special;
  const word_vector limit =
      magnitude == format.first_special ? word_vector{} + infinity : word_vector{} + nan;
  const word_vector one = word_vector{} + 0x3f80'0000;
  special = reinterpret_cast<float_vector>(sign | (is_special       ? limit
                                                   : magnitude == 0 ? word_vector{}
                                                                    : one));
  return is_special;
}

// Splits `registers` times `lanes` elements of each part of a register.
bool split(const element_format& format, int stride, int elements, float* values, i32* tops,
           float* specials) {
  word_vector any = {};
  for (int n = 0; n < elements; n += vector_lanes) {
    const int part = n / stride;
    const auto value = loaded<word_vector>(values + n);
    float_vector special;
    const word_vector is_special = split(format, value, special);
    stored(specials + n, special);
    stored(values + n, value & ~is_special);
    i32* const top = tops + part / 2 * stride + n % stride;
    const word_vector half = is_special & (part & 1 ? -65536 : 65535);
    constexpr i32 zeros = (zero_top & 0xffff) | zero_top * 65536;
    stored(top, (loaded<word_vector>(top) & ~half) | (half & zeros));
    any |= is_special;
  }
  return is_any(any);
}

}  // namespace

const element_format& format_of(ptx::scalar_type type) noexcept {
  using ptx::scalar_type;
  static constexpr element_format half{16, 3, 0x8fff'e000, 0x1p112f, 127 - 14, 0x4780'0000, 0x7c00},
      e4m3{16, 4, 0x87f0'0000, 0x1p120f, 127 - 6, 0x43ef'ffff, 0x7f00},
      bfloat{16, 0, 0xffff'0000, 1, 1, infinity, 0x7f80},
      tf32{32, 0, 0xffff'e000, 1, 1, infinity, 0}, whole{32, 0, 0xffff'ffff, 1, 1, infinity, 0};
  switch (type) {
    case scalar_type::f16:
    case scalar_type::e5m2:
      return half;
    case scalar_type::e4m3:
      return e4m3;
    case scalar_type::bf16:
      return bfloat;
    case scalar_type::tf32:
      return tf32;
    default:
      return whole;
  }
}

bool move_specials(const matrix_site& site, float_tile& s, result_tile& c, special_sums& sums) {
  float_tile specials;
  const int a = 4 * product_rows, b = warp_size;
  bool any = split(*s.a_format, s.registers * a, s.elements * a, s.a[0], s.a_top[0], specials.a[0]);
  any |= split(*s.b_format, s.registers * b, s.elements * b, s.b[0], s.b_top[0], specials.b[0]);
  const element_format& format = format_of(site.c_type);
  word_vector special_c = {};
  for (int i = 0; i < product_columns * product_rows; i += vector_lanes) {
    const int column = i / product_rows, row = i % product_rows;
    const auto words = loaded<word_vector>(c.words[0] + i);
    const auto value = format.bits == 32
                           ? words
                           : reinterpret_cast<word_vector>(upper_elements(format, words << 16));
    float_vector sum;
    const word_vector is_special = split(format, value, sum);
    stored(c.words[0] + i, words & ~is_special);
    special_c |= is_special;
    for (int n = 0; n < 4 * s.elements; ++n) {
      sum += loaded<float_vector>(specials.a[n] + row) * specials.b[n / 4][4 * column + n % 4];
    }
    stored(sums.values[0] + i, sum);
  }
  return any || is_any(special_c);
}

void place_specials(const matrix_site& site, const special_sums& sums, result_tile& d) {
  const bool is_half = site.d_type == ptx::scalar_type::f16;
  for (int i = 0; i < product_columns * product_rows; i += vector_lanes) {
    const auto sum = loaded<word_vector>(sums.values[0] + i);
    const word_vector magnitude = sum & ~sign_bit;
    const word_vector word = magnitude > infinity ? word_vector{} + nan : sum;
    const auto half = (word_vector)((unsigned_vector)word >> 16);
    const word_vector narrow = magnitude > infinity ? half : half & 0xfc00;
    const word_vector result = is_half ? narrow : word;
    const auto old = loaded<word_vector>(d.words[0] + i);
    stored(d.words[0] + i, magnitude >= infinity ? result : old);
  }
}

}  // namespace halfwarp::emulator::exec
