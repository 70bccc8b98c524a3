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
typedef u32 unsigned_vector __attribute__((vector_size(4 * vector_lanes)));

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
  typedef i32 four __attribute__((vector_size(16)));
  for (int c = 0; c < 2; ++c) {
    const auto a = loaded<four>(from + 4 * c), b = loaded<four>(from + 8 + 4 * c);
    const auto x = loaded<four>(from + 16 + 4 * c), y = loaded<four>(from + 24 + 4 * c);
    const four low = {0, 4, 1, 5}, high = {2, 6, 3, 7}, first = {0, 1, 4, 5}, last = {2, 3, 6, 7};
    const four ab = __builtin_shuffle(a, b, low), xy = __builtin_shuffle(x, y, low);
    const four ab_high = __builtin_shuffle(a, b, high), xy_high = __builtin_shuffle(x, y, high);
    stored(to[0][c], __builtin_shuffle(ab, xy, first));
    stored(to[1][c], __builtin_shuffle(ab, xy, last));
    stored(to[2][c], __builtin_shuffle(ab_high, xy_high, first));
    stored(to[3][c], __builtin_shuffle(ab_high, xy_high, last));
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
  for (int v = 0; v < warp_size; v += vector_lanes) {
    const unsigned_vector high = loaded<unsigned_vector>(words + v) << up;
    const word_vector with_sign = reinterpret_cast<word_vector>(high) >> down;
    stored(to + v, is_signed ? with_sign : reinterpret_cast<word_vector>(high >> down));
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
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      sum[v] += loaded<word_vector>(s.a[k][h] + v * vector_lanes) * b;
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) stored(to + v * vector_lanes, sum[v]);
}

// ---- floating point

// How to read the elements of a type. Bits of an element move to the place of a float's fraction
// and exponent; the factor corrects the exponent, also of subnormal numbers.
struct element_format {
  int bits, shift;
  u32 mask;
  float factor;
  i32 lowest_field;   // of the exponent of a float; subnormal numbers of the type have it
  u32 first_special;  // as a float: larger magnitudes are infinite or NaN
};

// Returns the format. e4m3 is normalized if `is_widened`.
inline element_format format_of(ptx::scalar_type type, bool is_widened) {
  using ptx::scalar_type;
  switch (type) {
    case scalar_type::f16:
      return {16, 3, 0x8fff'e000, 0x1p112f, 127 - 14, 0x4780'0000};
    case scalar_type::e5m2:
      return {8, 3, 0x8fe0'0000, 0x1p112f, 127 - 14, 0x4780'0000};
    case scalar_type::e4m3:
      return {8, 4, 0x87f0'0000, 0x1p120f, is_widened ? 1 : 127 - 6, 0x43f0'0000};
    case scalar_type::bf16:
      return {16, 0, 0xffff'0000, 1, 1, 0x7f80'0000};
    case scalar_type::tf32:
      return {32, 0, 0xffff'e000, 1, 1, 0x7f80'0000};
    default:
      return {32, 0, 0xffff'ffff, 1, 1, 0x7f80'0000};
  }
}

// Like the hardware, no exponent of a subnormal number is normalized.
inline constexpr i32 zero_top = -8192;  // of a zero; sums of two fit in 16 bits

struct element_vectors {
  float_vector value;
  word_vector top, special;
};

[[gnu::always_inline]] inline element_vectors read_elements(const element_format& format,
                                                            const word_vector& words, int e) {
  const word_vector moved = words << (32 - format.bits * (e + 1)) >> format.shift;
  const auto raw =
      reinterpret_cast<word_vector>(reinterpret_cast<unsigned_vector>(moved) & format.mask);
  const float_vector value = reinterpret_cast<float_vector>(raw) * format.factor;
  const word_vector magnitude = reinterpret_cast<word_vector>(value) & 0x7fff'ffff;
  word_vector field = magnitude >> 23;
  field = field > format.lowest_field ? field : word_vector{} + format.lowest_field;
  const word_vector top = magnitude == 0 ? word_vector{} + zero_top : field - 127;
  return {value, top, magnitude >= static_cast<i32>(format.first_special)};
}

[[gnu::always_inline]] inline bool is_any(const word_vector& mask) {
  i32 any = 0;
  for (int l = 0; l < vector_lanes; ++l) any |= mask[l];
  return any != 0;
}

// Types with wide exponents have a base for each row and column: their values are divided by this
// power of two. A word of exponents has the exponents of two columns of k.
struct float_tile {
  alignas(64) float a[32][2][warp_size], b[32][2][4];
  alignas(64) i32 a_top[16][2][warp_size], b_top[16][2][4];
  alignas(64) i32 a_base[2][warp_size], b_base[2][warp_size];
  bool is_wide = false;
  int words_per_step = 0;  // of exponents
};

// The registers of half of the rows of A, or of B, in the order of the lanes.
struct register_elements {
  alignas(64) float value[8][warp_size];
  alignas(64) i32 top[8][warp_size];
};

// Sets each four lanes to the largest of them.
[[gnu::always_inline]] inline word_vector highest_of_four(const word_vector& x) {
  const word_vector a = spread<0>(x), b = spread<1>(x), c = spread<2>(x), d = spread<3>(x);
  const word_vector low = a > b ? a : b, high = c > d ? c : d;
  return low > high ? low : high;
}

// Divides the values of each four lanes by a power of two near the largest.
inline void divide_by_base(register_elements& s, int count, i32* base) {
  for (int v = 0; v < warp_size; v += vector_lanes) {
    word_vector highest = word_vector{} + zero_top;
    for (int n = 0; n < count; ++n) {
      const auto top = loaded<word_vector>(s.top[n] + v);
      highest = top > highest ? top : highest;
    }
    highest = highest_of_four(highest);
    highest = highest == zero_top ? word_vector{} : highest;
    highest = highest > 126 ? word_vector{} + 126 : highest;
    stored(base + v, highest);
    const auto scale = reinterpret_cast<float_vector>((127 - highest) << 23);
    for (int n = 0; n < count; ++n) {
      stored(s.value[n] + v, loaded<float_vector>(s.value[n] + v) * scale);
    }
  }
}

// Reads registers of A or B. Returns false if an element is an infinity or a NaN.
inline bool read_registers(const element_format& format, const u32* const* words, int stride,
                           int count, bool is_negated, register_elements& s) {
  word_vector special = {};
  const float sign = is_negated ? -1.0f : 1.0f;
  for (int e = 0; e < 32 / format.bits; ++e) {
    for (int r = 0; r < count; ++r) {
      const int n = e * count + r;
      for (int v = 0; v < warp_size; v += vector_lanes) {
        const element_vectors elements =
            read_elements(format, loaded<word_vector>(words[r * stride] + v), e);
        stored(s.value[n] + v, elements.value * sign);
        stored(s.top[n] + v, elements.top);
        special |= elements.special;
      }
    }
  }
  return !is_any(special);
}

// Joins the exponents of elements n and n + count. A single element has none beside it.
inline void join_tops(const register_elements& s, int n, int count, bool is_single, i32* to) {
  for (int v = 0; v < warp_size; v += vector_lanes) {
    const word_vector low = loaded<word_vector>(s.top[n] + v) & 0xffff;
    const word_vector high =
        is_single ? word_vector{} + zero_top : loaded<word_vector>(s.top[n + count] + v);
    stored(to + v, low | high << 16);
  }
}

// Calls visit(n, tops) for each word of exponents; n counts the words.
template <class Visit>
[[gnu::always_inline]] inline void visit_tops(const register_elements& s, int count,
                                              int per_register, Visit visit) {
  alignas(64) i32 tops[warp_size];
  const int pairs = per_register == 1 ? 1 : per_register / 2;
  for (int pair = 0; pair < pairs; ++pair) {
    for (int r = 0; r < count; ++r) {
      join_tops(s, 2 * pair * count + r, count, per_register == 1, tops);
      visit(pair * count + r, tops);
    }
  }
}

// Returns false if an element is an infinity or a NaN.
inline bool read_tile(const matrix_site& site, const product_sources& from, float_tile& s) {
  const bool is_widened = site.sums == addition::two_steps;
  const element_format a = format_of(site.a_type, is_widened);
  const element_format b = format_of(site.b_type, is_widened);
  const int count = site.b_count, per_register = 32 / a.bits, elements = count * per_register;
  s.is_wide = a.lowest_field == 1 && !is_widened;
  s.words_per_step = a.bits == 32 ? 1 : 2;
  register_elements registers;
  for (int h = 0; h < 2; ++h) {
    if (!read_registers(a, from.a + h, 2, count, site.negates_a, registers)) return false;
    if (s.is_wide) divide_by_base(registers, elements, s.a_base[h]);
    for (int n = 0; n < elements; ++n)
      spread_words<float_vector>(registers.value[n], s.a + 4 * n, h);
    visit_tops(registers, count, per_register, [&](int n, const i32* tops) {
      spread_words<word_vector>(tops, s.a_top + 4 * n, h);
    });
  }
  alignas(64) i32 base[warp_size];
  if (!read_registers(b, from.b, 1, count, site.negates_b, registers)) return false;
  if (s.is_wide) divide_by_base(registers, elements, base);
  for (int n = 0; n < elements; ++n) rearrange(registers.value[n], s.b + 4 * n);
  visit_tops(registers, count, per_register,
             [&](int n, const i32* tops) { rearrange(tops, s.b_top + 4 * n); });
  if (!s.is_wide) return true;
  for (int c = 0; c < 2; ++c) {
    for (int l = 0; l < warp_size; ++l) s.b_base[c][l] = base[4 * (2 * (l & 3) + c)];
  }
  return true;
}

// Finds the largest exponent of the products of each element.
inline void find_highest(const float_tile& s, int h, int c, step_range range, i32* to) {
  typedef i16 short_vector __attribute__((vector_size(4 * vector_lanes)));
  short_vector highest[vectors];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) highest[v] = short_vector{} + i16{-32768};
  for (int n = range.first / s.words_per_step; n < range.last / s.words_per_step; ++n) {
    const auto b = repeated<short_vector>(s.b_top[n][c]);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      const short_vector sum = loaded<short_vector>(s.a_top[n][h] + v * vector_lanes) + b;
      highest[v] = sum > highest[v] ? sum : highest[v];
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) {
    const auto pair = reinterpret_cast<word_vector>(highest[v]);
    const word_vector low = pair << 16 >> 16, high = pair >> 16;
    stored(to + v * vector_lanes, low > high ? low : high);
  }
}

// Adds products that are truncated to the unit of the scale. Two sums prevent an overflow.
inline void add_products(const float_tile& s, int h, int c, step_range range, const float* scale,
                         i32 (*to)[warp_size]) {
  const int middle = (range.first + range.last) / 2;
  for (int part = 0; part < 2; ++part) {
    word_vector sum[vectors] = {};
    for (int k = part ? middle : range.first; k < (part ? range.last : middle); ++k) {
      const auto b = repeated<float_vector>(s.b[k][c]);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) {
        const auto product = loaded<float_vector>(s.a[k][h] + v * vector_lanes) * b;
        const auto aligned = product * loaded<float_vector>(scale + v * vector_lanes);
        sum[v] += __builtin_convertvector(aligned, word_vector);
      }
    }
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) stored(to[part] + v * vector_lanes, sum[v]);
  }
}

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
