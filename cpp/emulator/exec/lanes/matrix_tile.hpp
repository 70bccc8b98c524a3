// SPDX-License-Identifier: Apache-2.0
// The elements of A and B of one mma, spread over vectors in the order of the registers of D.
//
// Lane l of D has row l / 4 + 8 * h and column 2 * (l % 4) + c. A vector of A holds the element of
// its row in four lanes in turn. A vector of B repeats the elements of four columns.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "emulator/exec/lanes/half.hpp"
#include "emulator/exec/matrix/product.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {

#ifdef __AVX512BW__
inline constexpr int vector_lanes = 16;
#elif defined(__AVX2__)
inline constexpr int vector_lanes = 8;
#else
inline constexpr int vector_lanes = 4;
#endif
inline constexpr int vectors = warp_size / vector_lanes;
typedef float float_vector __attribute__((vector_size(4 * vector_lanes)));
typedef i32 word_vector __attribute__((vector_size(4 * vector_lanes)));
typedef i8 byte_vector __attribute__((vector_size(warp_size)));

// The columns of A from `first` to before `last`, in the order of the tile.
struct step_range {
  int first, last;
};

template <class Vector, class T>
[[gnu::always_inline]] inline Vector loaded(const T* from) {
  Vector result;
  __builtin_memcpy(&result, from, sizeof result);
  return result;
}
template <class Vector, class T>
[[gnu::always_inline]] inline void stored(T* to, const Vector& value) {
  __builtin_memcpy(to, &value, sizeof value);
}

// Repeats four elements in a vector.
template <class Vector, class T>
[[gnu::always_inline]] inline Vector repeated(const T* from) {
#ifdef __AVX512BW__
  return (Vector)_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#elif defined(__AVX2__)
  return (Vector)_mm256_broadcastsi128_si256(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
  return loaded<Vector>(from);
#endif
}

// Repeats lane t of each four lanes.
template <int t, class Vector>
[[gnu::always_inline]] inline Vector spread(const Vector& from) {
#ifdef __AVX512BW__
  return (Vector)_mm512_shuffle_epi32((__m512i)from, static_cast<_MM_PERM_ENUM>(t * 0x55));
#elif defined(__AVX2__)
  return (Vector)_mm256_shuffle_epi32((__m256i)from, t * 0x55);
#else
  return __builtin_shuffle(from, word_vector{t, t, t, t});
#endif
}

// Spreads a register of A: lane t of each four lanes becomes the vector of column t.
template <class Vector, class T>
[[gnu::always_inline]] inline void spread_words(const T* from, T (*to)[2][warp_size], int h) {
  for (int v = 0; v < vectors; ++v) {
    const auto x = loaded<Vector>(from + v * vector_lanes);
    stored(to[0][h] + v * vector_lanes, spread<0>(x));
    stored(to[1][h] + v * vector_lanes, spread<1>(x));
    stored(to[2][h] + v * vector_lanes, spread<2>(x));
    stored(to[3][h] + v * vector_lanes, spread<3>(x));
  }
}

// Rearranges a register of B, whose lanes have a column and k: by k, then by column.
template <class T>
[[gnu::always_inline]] inline void rearrange(const T* from, T (*to)[2][4]) {
  for (int t = 0; t < 4; ++t) {
    for (int c = 0; c < 2; ++c) {
      for (int n = 0; n < 4; ++n) to[t][c][n] = from[4 * (2 * n + c) + t];
    }
  }
}

// ---- integers

struct integer_tile {
  alignas(64) i32 a[64][2][warp_size], b[64][2][4];
};

[[gnu::always_inline]] inline void read_integers(ptx::scalar_type type, int width, const u32* words,
                                                 int e, i32* to) {
  const bool is_signed = type == ptx::scalar_type::s8 || type == ptx::scalar_type::s4;
  const int up = 32 - width * (e + 1), down = 32 - width;
  for (int l = 0; l < warp_size; ++l) {
    const u32 high = words[l] << up;
    to[l] = is_signed ? static_cast<i32>(high) >> down : static_cast<i32>(high >> down);
  }
}

inline void read_tile(const matrix_site& site, const product_sources& from, integer_tile& s) {
  alignas(64) i32 values[warp_size];
  const int per_register = 32 / site.width, halves = site.rows / 8;
  for (int e = 0; e < per_register; ++e) {
    for (int r = 0; r < site.b_count; ++r) {
      const int first = 4 * (e * site.b_count + r);
      for (int h = 0; h < halves; ++h) {
        read_integers(site.a_type, site.width, from.a[halves * r + h], e, values);
        spread_words<word_vector>(values, s.a + first, h);
      }
      read_integers(site.b_type, site.width, from.b[r], e, values);
      rearrange(values, s.b + first);
    }
  }
}

inline void add_products(const integer_tile& s, int h, int c, step_range range, i32* to) {
  word_vector sum[vectors] = {};
  for (int k = range.first; k < range.last; ++k) {
    const auto b = repeated<word_vector>(s.b[k][c]);
    for (int v = 0; v < vectors; ++v) {
      sum[v] += loaded<word_vector>(s.a[k][h] + v * vector_lanes) * b;
    }
  }
  for (int v = 0; v < vectors; ++v) stored(to + v * vector_lanes, sum[v]);
}

// ---- floating point

// Exponents are relative to a base and at least -31; the exponent of a zero is -64. Types with
// wide exponents have their highest exponent as the base, which also scales the values. Other
// types have the base 15.
struct float_tile {
  alignas(64) float a[32][2][warp_size], b[32][2][4];
  alignas(64) i8 a_top[32][2][warp_size], b_top[32][2][4];
  alignas(64) i32 a_base[2][warp_size], b_base[2][warp_size];
  bool is_wide = false;
};

// Elements of one register, in the order of the lanes.
struct float_elements {
  alignas(64) float value[warp_size];
  alignas(64) i32 top[warp_size];
};
inline constexpr i32 zero_top = -10'000;

// Reads element `e` of each word. Returns false if one is an infinity or a NaN.
inline bool read_floats(ptx::scalar_type type, const u32* words, int e, bool is_widened,
                        float_elements& to) {
  using ptx::scalar_type;
  u32 special = 0;
  if (type == scalar_type::f16 || type == scalar_type::e5m2) {
    const int shift = type == scalar_type::f16 ? 16 * e : 8 * e;
    const int widening = type == scalar_type::f16 ? 0 : 8;
    for (int l = 0; l < warp_size; ++l) {
      const u32 x = words[l] >> shift << widening & 0xffff, field = x >> 10 & 31;
      to.value[l] = half::to_float(static_cast<u16>(x));
      to.top[l] = x & 0x7fff ? static_cast<i32>(field ? field : 1) - 15 : zero_top;
      special |= field == 31;
    }
  } else if (type == scalar_type::e4m3) {
    for (int l = 0; l < warp_size; ++l) {
      const u32 x = words[l] >> 8 * e & 0xff, magnitude = x & 0x7f, field = magnitude >> 3;
      const u32 tiny = bits(static_cast<float>(static_cast<i32>(magnitude)) * 0x1p-9f);
      const u32 normal = (magnitude << 20) + ((127u - 7u) << 23);
      const u32 result = field ? normal : tiny;
      to.value[l] = from_bits(result | (x & 0x80) << 24);
      const i32 top = is_widened ? static_cast<i32>(result >> 23) - 127
                                 : static_cast<i32>(field ? field : 1) - 7;
      to.top[l] = magnitude ? top : zero_top;
      special |= magnitude == 0x7f;
    }
  } else {
    const bool is_tf32 = type == scalar_type::tf32;
    for (int l = 0; l < warp_size; ++l) {
      const u32 x = is_tf32 ? words[l] & ~u32{0x1fff} : words[l] >> 16 * e << 16;
      const u32 field = x >> 23 & 255;
      to.value[l] = from_bits(x);
      to.top[l] = x & 0x7fff'ffff ? static_cast<i32>(field ? field : 1) - 127 : zero_top;
      special |= field == 255;
    }
  }
  return special == 0;
}

// Returns the largest of each four lanes, in all four.
[[gnu::always_inline]] inline void spread_highest(i32* tops) {
  for (int l = 0; l < warp_size; l += 4) {
    const i32 x = tops[l] > tops[l + 1] ? tops[l] : tops[l + 1];
    const i32 y = tops[l + 2] > tops[l + 3] ? tops[l + 2] : tops[l + 3];
    for (int i = 0; i < 4; ++i) tops[l + i] = x > y ? x : y;
  }
}

// Finds the bases of the rows of a matrix whose registers are in `elements`.
[[gnu::always_inline]] inline void find_bases(const float_elements* elements, int count,
                                              i32* base) {
  for (int l = 0; l < warp_size; ++l) base[l] = zero_top;
  for (int n = 0; n < count; ++n) {
    for (int l = 0; l < warp_size; ++l) {
      base[l] = elements[n].top[l] > base[l] ? elements[n].top[l] : base[l];
    }
  }
  spread_highest(base);
  for (int l = 0; l < warp_size; ++l) {
    base[l] = base[l] == zero_top ? 0 : base[l] > 126 ? 126 : base[l];
  }
}

// Makes exponents relative, and scales the values of types with wide exponents.
[[gnu::always_inline]] inline void make_relative(float_elements& elements, const i32* base,
                                                 bool is_wide, i8* tops) {
  for (int l = 0; l < warp_size; ++l) {
    i32 top = elements.top[l] - base[l];
    top = top < -31 ? -31 : top;
    tops[l] = static_cast<i8>(elements.top[l] == zero_top ? -64 : top);
  }
  if (!is_wide) return;
  for (int l = 0; l < warp_size; ++l) {
    elements.value[l] *= from_bits(static_cast<u32>(127 - base[l]) << 23);
  }
}

[[gnu::always_inline]] inline void spread_bytes(const i8* from, i8 (*to)[2][warp_size], int h) {
  const auto x = loaded<byte_vector>(from);
  byte_vector index;
  for (int l = 0; l < warp_size; ++l) index[l] = static_cast<i8>(l & ~3);
  for (int t = 0; t < 4; ++t) {
    stored(to[t][h], __builtin_shuffle(x, index));
    index += 1;
  }
}

// Reads half h of the rows of A.
inline bool read_rows(const matrix_site& site, const product_sources& from, int h, float_tile& s) {
  const int per_register = 32 / site.width;
  float_elements elements[8];
  alignas(64) i8 tops[warp_size];
  bool is_finite = true;
  for (int e = 0; e < per_register; ++e) {
    for (int r = 0; r < site.b_count; ++r) {
      is_finite &= read_floats(site.a_type, from.a[2 * r + h], e, site.sums == addition::two_steps,
                               elements[e * site.b_count + r]);
    }
  }
  const int count = per_register * site.b_count;
  if (s.is_wide) find_bases(elements, count, s.a_base[h]);
  for (int n = 0; n < count; ++n) {
    make_relative(elements[n], s.a_base[h], s.is_wide, tops);
    if (site.negates_a) {
      for (int l = 0; l < warp_size; ++l) elements[n].value[l] = -elements[n].value[l];
    }
    spread_words<float_vector>(elements[n].value, s.a + 4 * n, h);
    spread_bytes(tops, s.a_top + 4 * n, h);
  }
  return is_finite;
}

inline bool read_columns(const matrix_site& site, const product_sources& from, float_tile& s) {
  const int per_register = 32 / site.width;
  float_elements elements[8];
  alignas(64) i32 base[warp_size];
  alignas(64) i8 tops[warp_size];
  bool is_finite = true;
  for (int e = 0; e < per_register; ++e) {
    for (int r = 0; r < site.b_count; ++r) {
      is_finite &= read_floats(site.b_type, from.b[r], e, site.sums == addition::two_steps,
                               elements[e * site.b_count + r]);
    }
  }
  const int count = per_register * site.b_count;
  for (int l = 0; l < warp_size; ++l) base[l] = 15;
  if (s.is_wide) find_bases(elements, count, base);
  for (int n = 0; n < count; ++n) {
    make_relative(elements[n], base, s.is_wide, tops);
    if (site.negates_b) {
      for (int l = 0; l < warp_size; ++l) elements[n].value[l] = -elements[n].value[l];
    }
    rearrange(elements[n].value, s.b + 4 * n);
    rearrange(tops, s.b_top + 4 * n);
  }
  for (int c = 0; c < 2; ++c) {
    for (int l = 0; l < warp_size; ++l) s.b_base[c][l] = base[4 * (2 * (l & 3) + c)];
  }
  return is_finite;
}

// Returns false if an element is an infinity or a NaN.
inline bool read_tile(const matrix_site& site, const product_sources& from, float_tile& s) {
  s.is_wide = site.a_type == ptx::scalar_type::bf16 || site.a_type == ptx::scalar_type::tf32;
  for (int h = 0; h < 2; ++h) {
    for (int l = 0; l < warp_size; ++l) s.a_base[h][l] = 15;
    if (!read_rows(site, from, h, s)) return false;
  }
  return read_columns(site, from, s);
}

// Finds the largest relative exponent of the products of each element.
inline void find_highest(const float_tile& s, int h, int c, step_range range, i8* to) {
  byte_vector highest = byte_vector{} + static_cast<i8>(-128);
  for (int k = range.first; k < range.last; ++k) {
    typedef i32 word_of_bytes __attribute__((vector_size(warp_size)));
    i32 columns;
    __builtin_memcpy(&columns, s.b_top[k][c], sizeof columns);
    const auto sum = loaded<byte_vector>(s.a_top[k][h]) +
                     reinterpret_cast<byte_vector>(word_of_bytes{} + columns);
    highest = sum > highest ? sum : highest;
  }
  stored(to, highest);
}

// Adds products that are truncated to the unit of the scale. Two sums prevent an overflow.
inline void add_products(const float_tile& s, int h, int c, step_range range, const float* scale,
                         i32 (*to)[warp_size]) {
  const int middle = (range.first + range.last) / 2;
  for (int part = 0; part < 2; ++part) {
    word_vector sum[vectors] = {};
    for (int k = part ? middle : range.first; k < (part ? range.last : middle); ++k) {
      const auto b = repeated<float_vector>(s.b[k][c]);
      for (int v = 0; v < vectors; ++v) {
        const auto product = loaded<float_vector>(s.a[k][h] + v * vector_lanes) * b;
        const auto aligned = product * loaded<float_vector>(scale + v * vector_lanes);
        sum[v] += __builtin_convertvector(aligned, word_vector);
      }
    }
    for (int v = 0; v < vectors; ++v) stored(to[part] + v * vector_lanes, sum[v]);
  }
}

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
