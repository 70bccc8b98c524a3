// SPDX-License-Identifier: Apache-2.0
// Infinities and NaNs among the terms of mma. They alone decide the results that they reach.
#include "emulator/exec/lanes/matrix_tile.hpp"

namespace halfwarp::emulator::exec {
namespace {

using namespace baseline;

constexpr i32 infinity = 0x7f80'0000, nan = 0x7fff'ffff, sign_bit = lowest_of<i32>;

// Returns infinities, NaNs, zeros, and the signs of other numbers.
float_vector special_of(const element_format& format, const word_vector& value) {
  const word_vector magnitude = value & ~sign_bit, sign = value & sign_bit;
  const word_vector limit =
      magnitude == format.first_special ? word_vector{} + infinity : word_vector{} + nan;
  const word_vector one = word_vector{} + 0x3f80'0000;
  const word_vector kind = magnitude >= format.first_special ? limit
                           : magnitude == 0                  ? word_vector{}
                                                             : one;
  return reinterpret_cast<float_vector>(sign | kind);
}

// Replaces floats by what `special_of` returns.
void replace(const element_format& format, const float* from, int count, float* to) {
  for (int n = 0; n < count; n += vector_lanes) {
    stored(to + n, special_of(format, loaded<word_vector>(from + n)));
  }
}

// Returns the lanes of elements that are special, of 8, 16 or 32 bits.
word_vector specials_in(const element_format& format, int width, const word_vector& words) {
  if (width == 32) return (words & ~sign_bit) >= format.first_special;
  if (width == 16) {
    const short_vector magnitude = reinterpret_cast<short_vector>(words) & 0x7fff;
    return reinterpret_cast<word_vector>(magnitude >= format.special_bits);
  }
  const auto magnitude = reinterpret_cast<byte_vector>(words) & std::uint8_t{0x7f};
  return reinterpret_cast<word_vector>(magnitude >=
                                       static_cast<std::uint8_t>(format.special_bits >> 8));
}

// Replaces special elements of registers by zeros, and names the new registers. Returns whether
// there were any.
bool clear(const element_format& format, int width, int count, const u32** registers,
           u32 (*to)[warp_size]) {
  word_vector any = {};
  for (int n = 0; n < count; ++n) {
    for (int v = 0; v < warp_size; v += vector_lanes) {
      const auto words = loaded<word_vector>(registers[n] + v);
      const word_vector special = specials_in(format, width, words);
      stored(to[n] + v, words & ~special);
      any |= special;
    }
    registers[n] = to[n];
  }
  return is_any(any);
}

// Adds the special terms of columns of C, which become sums.
void add_specials(const matrix_site& site, const float_tile& terms, column_group at,
                  word_vector (&x)[4]) {
  const element_format& format = format_of(site.c_type);
  for (int j = 0; j < 4; ++j) {
    const word_vector value =
        format.bits == 32 ? x[j]
                          : reinterpret_cast<word_vector>(upper_elements(format, x[j] << 16));
    float_vector sum = special_of(format, value);
    for (int n = 0; n < 4 * terms.elements; ++n) {
      sum += loaded<float_vector>(terms.a[n] + at.row) * at.first(terms.b[n / 4])[8 * j + n % 4];
    }
    x[j] = reinterpret_cast<word_vector>(sum);
  }
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

bool move_specials(const matrix_site& site, const product_sources& from, const float_tile& s,
                   finite_sources& finite, special_sums& sums) {
  float_tile terms;
  terms.elements = s.elements;
  replace(*s.a_format, s.a[0], 4 * s.elements * product_rows, terms.a[0]);
  replace(*s.b_format, s.b[0], s.elements * warp_size, terms.b[0]);
  visit_groups({site.c_type == ptx::scalar_type::f16, false, true}, from, sums,
               [&](column_group at, word_vector(&x)[4]) { add_specials(site, terms, at, x); });
  finite.sources = from;
  product_sources& to = finite.sources;
  const element_format& c_format = format_of(site.c_type);
  bool any = clear(*s.a_format, site.width, 2 * s.registers, to.a, finite.words);
  any |= clear(*s.b_format, site.width, s.registers, to.b, finite.words + 4);
  any |= clear(c_format, c_format.bits, site.c_count, to.c, finite.words + 8);
  return any;
}

void place_specials(const matrix_site& site, const special_sums& sums, product_results& d) {
  const bool is_half = site.d_type == ptx::scalar_type::f16;
  for (std::size_t n = 0; n < std::size(d); ++n) {
    // The even and the odd columns are in one register of halves.
    u32* const results = d[is_half ? n / 2 : n];
    const int shift = is_half && n % 2 ? 16 : 0, low = is_half ? 0xffff : -1;
    for (int v = 0; v < warp_size; v += vector_lanes) {
      const auto sum = loaded<word_vector>(sums[n] + v);
      const word_vector magnitude = sum & ~sign_bit;
      const word_vector word = magnitude > infinity ? word_vector{} + nan : sum;
      const auto half = (word_vector)((unsigned_vector)word >> 16);
      const word_vector narrow = magnitude > infinity ? half : half & 0xfc00;
      const word_vector result = (is_half ? narrow : word) << shift;
      const auto old = loaded<word_vector>(results + v);
      stored(results + v, magnitude >= infinity ? (old & ~(low << shift)) | result : old);
    }
  }
}

tile_cache& cached_tile() noexcept {
  static thread_local tile_cache cache;
  return cache;
}

}  // namespace halfwarp::emulator::exec
