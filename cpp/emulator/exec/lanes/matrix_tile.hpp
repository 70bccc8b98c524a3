// SPDX-License-Identifier: Apache-2.0
// The elements of A and B of one mma. A vector has elements of a column of A, C or D, and each
// element of B is repeated.
//
// The rows of a column are in the order 0, 4, 8, 12, 1, 5, ..: a transposition of four words in
// each four lanes leads there and back.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "emulator/exec/lanes/half.hpp"
#include "emulator/exec/matrix/float_tile.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {

#ifdef __AVX512BW__
inline constexpr int vector_lanes = 16;
#elif defined(__AVX2__)
inline constexpr int vector_lanes = 8;
#else
inline constexpr int vector_lanes = 4;
#endif
typedef float float_vector __attribute__((vector_size(4 * vector_lanes)));
typedef i32 word_vector __attribute__((vector_size(4 * vector_lanes)));
typedef u32 unsigned_vector __attribute__((vector_size(4 * vector_lanes)));
typedef i16 short_vector __attribute__((vector_size(4 * vector_lanes)));

// Words of a row, in A or in a quarter of D.
inline constexpr int row_words = 4;

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

[[gnu::always_inline]] inline float_vector repeated(float value) {
  return reinterpret_cast<float_vector>(unsigned_vector{} + bits(value));
}

[[gnu::always_inline]] inline bool is_any(const word_vector& mask) {
#ifdef __AVX512BW__
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
  return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
  i32 any = 0;
  for (int l = 0; l < vector_lanes; ++l) any |= mask[l];
  return any != 0;
#endif
}

// ---- order of the rows

// Returns the lanes of two vectors in turn: `width` lanes of each, of a half of each four lanes.
template <int width, bool is_high>
[[gnu::always_inline]] inline word_vector interleaved(const word_vector& a, const word_vector& b) {
  word_vector order = {};
  for (int l = 0; l < vector_lanes; ++l) {
    const int in_four = l % 4, first = is_high ? 2 : 0;
    const int place = width == 2 ? in_four % 2 : in_four / 2;
    const bool is_b = width == 2 ? in_four / 2 : in_four % 2;
    order[l] = l / 4 * 4 + first + place + (is_b ? vector_lanes : 0);
  }
  return __builtin_shuffle(a, b, order);
}

// Transposes four words of four vectors.
[[gnu::always_inline]] inline void transpose(word_vector (&x)[4]) {
  const word_vector a = interleaved<1, false>(x[0], x[1]), b = interleaved<1, true>(x[0], x[1]);
  const word_vector c = interleaved<1, false>(x[2], x[3]), d = interleaved<1, true>(x[2], x[3]);
  x[0] = interleaved<2, false>(a, c);
  x[1] = interleaved<2, true>(a, c);
  x[2] = interleaved<2, false>(b, d);
  x[3] = interleaved<2, true>(b, d);
}

// The place of vector i of four in two registers, which have the upper and the lower eight rows.
template <class T>
[[gnu::always_inline]] inline T* place_of(T* upper, T* lower, int part, int i) {
  return (i >> 1 ? lower : upper) + row_words * 4 * (i & 1) + part;
}

// Calls visit(row, columns): a vector of each of the four words of rows, which start at `row`.
template <class Visit>
[[gnu::always_inline]] inline void visit_columns(const u32* upper, const u32* lower, Visit visit) {
  for (int row = 0; row < product_rows; row += vector_lanes) {
    word_vector x[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) x[i] = loaded<word_vector>(place_of(upper, lower, row, i));
    transpose(x);
    visit(row, x);
  }
}

// Stores four columns as the words of rows.
inline void store_rows(const u32 (*columns)[product_rows], int stride, u32* upper, u32* lower) {
  for (int row = 0; row < product_rows; row += vector_lanes) {
    word_vector x[4];
#pragma GCC unroll 4
    for (int t = 0; t < 4; ++t) x[t] = loaded<word_vector>(columns[t * stride] + row);
    transpose(x);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) stored(place_of(upper, lower, row, i), x[i]);
  }
}

// ---- integers

// A word has two elements of 16 bits, of different columns of A.
struct integer_tile {
  alignas(64) i32 a[32][product_rows], b[8][warp_size];
};

// Returns pair n of the elements of a register.
[[gnu::always_inline]] inline word_vector read_pair(ptx::scalar_type type, int width,
                                                    const word_vector& words, int n) {
  const bool is_signed = type == ptx::scalar_type::s8 || type == ptx::scalar_type::s4;
  const auto high = reinterpret_cast<short_vector>(words) << (16 - width * (n + 1));
  typedef u16 unsigned_short_vector __attribute__((vector_size(4 * vector_lanes)));
  const int down = 16 - width;
  const auto with_sign = reinterpret_cast<word_vector>(high >> down);
  const auto without =
      reinterpret_cast<word_vector>(reinterpret_cast<unsigned_short_vector>(high) >> down);
  return is_signed ? with_sign : without;
}

inline void read_tile(const matrix_site& site, const product_sources& from, integer_tile& s) {
  const int pairs = 16 / site.width, count = site.b_count;
  const bool has_lower = site.rows > 8;
  for (int r = 0; r < count; ++r) {
    const u32* const upper = from.a[has_lower ? 2 * r : r];
    visit_columns(upper, has_lower ? from.a[2 * r + 1] : upper, [&](int row, word_vector* x) {
      for (int n = 0; n < pairs; ++n) {
        i32(*to)[product_rows] = s.a + row_words * (n * count + r);
        for (int t = 0; t < 4; ++t) {
          stored(to[t] + row, read_pair(site.a_type, site.width, x[t], n));
        }
      }
    });
    for (int v = 0; v < warp_size; v += vector_lanes) {
      const auto words = loaded<word_vector>(from.b[r] + v);
      for (int n = 0; n < pairs; ++n) {
        stored(s.b[n * count + r] + v, read_pair(site.b_type, site.width, words, n));
      }
    }
  }
}

// Returns the sums of both products of each word.
[[gnu::always_inline]] inline word_vector pair_products(const word_vector& a,
                                                        const word_vector& b) {
#ifdef __AVX512BW__
  return (word_vector)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (word_vector)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
  return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
}

// Returns the sums of the products of words of A from `first` to `last`, divided by four.
[[gnu::always_inline]] inline word_vector pair_sum(const integer_tile& s, int first, int last,
                                                   int column, int row) {
  word_vector sum = {};
  for (int n = first; n < last; ++n) {
#pragma GCC unroll 4
    for (int t = 0; t < 4; ++t) {
      const word_vector b = word_vector{} + s.b[n][4 * column + t];
      sum += pair_products(loaded<word_vector>(s.a[4 * n + t] + row), b);
    }
  }
  return sum;
}

// ---- floating point

struct element_vectors {
  float_vector value;
  word_vector top;
};

// Returns the element in the upper bits of each word.
[[gnu::always_inline]] inline float_vector upper_elements(const element_format& format,
                                                          const word_vector& words) {
  const auto raw = reinterpret_cast<unsigned_vector>(words >> format.shift) & format.mask;
  return reinterpret_cast<float_vector>(raw) * format.factor;
}

// Calls read(words, half) with two elements of 16 bits each, of words with 16 or 8 bits.
template <class Read>
[[gnu::always_inline]] inline void visit_halves(bool has_bytes, word_vector words, Read read) {
#pragma GCC unroll 1
  for (int half = 0; half <= has_bytes; ++half, words >>= 16) {
    const word_vector bytes = (words << 8 & 0xff00) | (words << 16 & ~0xff'ffff);
    read(has_bytes ? bytes : words, half);
  }
}

// Reads the two elements of 16 bits in each word. The second elements follow `stride` later.
// Returns their magnitudes.
[[gnu::always_inline]] inline short_vector read_halves(const element_format& format, int bias,
                                                       const word_vector& words, int stride,
                                                       float* values, i32* tops) {
  stored(values, upper_elements(format, words << 16));
  stored(values + stride, upper_elements(format, words));
  const short_vector magnitude = reinterpret_cast<short_vector>(words) & 0x7fff;
  const int fraction_bits = 7 + format.shift;
  const short_vector field = magnitude >> fraction_bits, one = short_vector{} + i16{1};
  const int format_bias = 0x7fff >> fraction_bits >> 1;
  short_vector top = (field > one ? field : one) + static_cast<i16>(bias - format_bias);
  stored(tops, magnitude == 0 ? short_vector{} + i16{zero_top} : top);
  return magnitude;
}

// Corrects exponents of subnormal numbers of e4m3, which have three bits.
[[gnu::always_inline]] inline void normalize(const short_vector& magnitude, i32* tops) {
  auto top = loaded<short_vector>(tops);
  for (int bit : {11, 10, 9}) {
    const auto first = static_cast<i16>(1 << bit);
    top += magnitude > 0 ? magnitude < first : short_vector{};
  }
  stored(tops, top);
}

// Reads the elements of 8 or 32 bits in each word. Returns whether they are special.
[[gnu::noinline]] inline word_vector read_words(bool is_normalized, const element_format& format,
                                                int bias, const word_vector& words, int stride,
                                                float* values, i32* tops) {
  if (format.bits == 16) {
    word_vector special = {};
    visit_halves(true, words, [&](const word_vector& pair, int half) {
      const short_vector magnitude =
          read_halves(format, bias, pair, stride, values + 2 * half * stride, tops + half * stride);
      if (is_normalized && format.shift == 4) normalize(magnitude, tops + half * stride);
      special |= reinterpret_cast<word_vector>(magnitude >= format.special_bits);
    });
    return special;
  }
  const float_vector value = upper_elements(format, words);
  stored(values, value);
  const word_vector magnitude = reinterpret_cast<word_vector>(value) & 0x7fff'ffff;
  const word_vector field = magnitude >> 23;
  const word_vector top = (field > 1 ? field : word_vector{} + 1) + (bias - 127);
  constexpr i32 no_element = zero_top * 65536;
  stored(tops, (magnitude == 0 ? word_vector{} + (zero_top & 0xffff) : top & 0xffff) | no_element);
  return magnitude >= format.first_special;
}

// Calls read(format, bias, words, stride, values, tops) for words.
template <class Read>
[[gnu::always_inline]] inline void read_tile(const product_sources& from, float_tile& s,
                                             Read read) {
  const int count = s.registers;
  element_format a = *s.a_format;
  const element_format b = *s.b_format;
  a.factor *= s.sign;
  for (int r = 0; r < count; ++r) {
    visit_columns(from.a[2 * r], from.a[2 * r + 1], [&](int row, word_vector* x) {
      for (int t = 0; t < 4; ++t) {
        const int n = row_words * r + t, stride = row_words * count * product_rows;
        read(a, 0, x[t], stride, s.a[n] + row, s.a_top[n] + row);
      }
    });
    for (int v = 0; v < warp_size; v += vector_lanes) {
      const auto words = loaded<word_vector>(from.b[r] + v);
      read(b, top_bias, words, count * warp_size, s.b[r] + v, s.b_top[r] + v);
    }
  }
}

// Returns whether an element is infinite or NaN.
inline bool read_tile(const matrix_site& site, const product_sources& from, float_tile& s) {
  s.a_format = &format_of(site.a_type);
  s.b_format = &format_of(site.b_type);
  s.is_normalized = site.sums == addition::two_steps;
  s.sign = site.negates_a != site.negates_b ? -1 : 1;
  s.registers = site.b_count;
  s.elements = site.b_count * (32 / site.width);
  s.top_words = site.width == 32 ? s.elements : s.elements / 2;
  word_vector special = {};
  if (site.width != 16) {
    read_tile(
        from, s, [&](auto&&... each) __attribute__((always_inline)) {
          special |= read_words(s.is_normalized, each...);
        });
    return is_any(special);
  }
  // Infinities and NaNs are the largest magnitudes, of A and B alike.
  short_vector highest = {};
  read_tile(
      from, s, [&](auto&&... each) __attribute__((always_inline)) {
        const short_vector magnitude = read_halves(each...);
        highest = highest > magnitude ? highest : magnitude;
      });
  return is_any(reinterpret_cast<word_vector>(highest >= s.a_format->special_bits));
}

// The columns of A that a step adds, as a part of all: their quotient by four.
struct step_range {
  int first, last;
};

// Returns the largest exponents of the products of a column of D with `top_bias`, in both halves of
// a word. They are zero without a product.
[[gnu::always_inline]] inline short_vector find_highest(const float_tile& s, step_range words,
                                                        int column, int row) {
  short_vector highest = {};
  for (int n = words.first; n < words.last; ++n) {
#pragma GCC unroll 4
    for (int t = 0; t < 4; ++t) {
      const auto b = reinterpret_cast<short_vector>(word_vector{} + s.b_top[n][4 * column + t]);
      const short_vector sum = loaded<short_vector>(s.a_top[4 * n + t] + row) + b;
      highest = sum > highest ? sum : highest;
    }
  }
  const auto pair = reinterpret_cast<unsigned_vector>(highest);
  const auto other = reinterpret_cast<short_vector>(pair << 16 | pair >> 16);
  return other > highest ? other : highest;
}

// Adds products that are truncated to the unit of the scale.
[[gnu::always_inline]] inline word_vector add_products(const float_tile& s, step_range columns,
                                                       int column, int row,
                                                       const float_vector& scale) {
  word_vector sum = {};
  for (int n = columns.first; n < columns.last; ++n) {
#pragma GCC unroll 4
    for (int t = 0; t < 4; ++t) {
      const auto product = loaded<float_vector>(s.a[4 * n + t] + row) * s.b[n][4 * column + t];
      sum += __builtin_convertvector(product * scale, word_vector);
    }
  }
  return sum;
}

// ---- numbers with few bits

// The extremes of elements of 16 bits.
struct half_range {
  short_vector highest = {};
  short_vector lowest = {};  // 2^15 less the least magnitude but zero
  word_vector used = {};

  [[gnu::always_inline]] void add(const word_vector& words) {
    const short_vector magnitude = reinterpret_cast<short_vector>(words) & 0x7fff;
    const short_vector distance = short_vector{} + i16{-32768} - magnitude;
    highest = highest > magnitude ? highest : magnitude;
    lowest = lowest > distance ? lowest : distance;
    used |= words;
  }
};

// Returns the largest lane, or the union of all lanes.
[[gnu::noinline]] inline int highest_lane(const short_vector& lanes) {
  typedef i16 eight __attribute__((vector_size(16)));
  eight parts[sizeof lanes / sizeof(eight)];
  __builtin_memcpy(parts, &lanes, sizeof parts);
  eight result = parts[0];
  for (const eight& each : parts) result = each > result ? each : result;
  for (int distance : {4, 2, 1}) {
    eight order = {0, 1, 2, 3, 4, 5, 6, 7};
    order ^= static_cast<i16>(distance);
    const eight other = __builtin_shuffle(result, order);
    result = other > result ? other : result;
  }
  return result[0];
}
inline u32 used_bits(const word_vector& words) {
  u64 parts[sizeof words / sizeof(u64)], all = 0;
  __builtin_memcpy(parts, &words, sizeof parts);
  for (u64 each : parts) all |= each;
  all |= all >> 32;
  return static_cast<u32>(all | all >> 16) & 0x7fff;
}

// Elements as integers: a number is an integer times a power of two.
struct integer_format {
  int unit = 0, bits = 1;

  // Returns false if an element is special.
  [[gnu::noinline]] bool set(const element_format& format, const half_range& range) {
    const int fraction_bits = 7 + format.shift, bias = 0x7fff >> fraction_bits >> 1;
    const int highest = highest_lane(range.highest);
    if (highest >= format.special_bits) return false;
    if (highest == 0) return true;
    const int lowest = 32768 - highest_lane(range.lowest);
    const auto exponent = [&](int magnitude) {
      const int field = magnitude >> fraction_bits;
      return (field > 1 ? field : 1) - bias;
    };
    const u32 used = used_bits(range.used) | 1u << fraction_bits;
    unit = exponent(lowest) - fraction_bits + __builtin_ctz(used);
    bits = exponent(highest) - unit + 1;
    return true;
  }
};

// Returns pairs of integers, from pairs of elements. The scale and the factor of a format would
// overflow together.
[[gnu::always_inline]] inline word_vector integer_pair(const element_format& format, float scale,
                                                       const word_vector& words) {
  const float_vector low = upper_elements(format, words << 16) * scale;
  const float_vector high = upper_elements(format, words) * scale;
  return (__builtin_convertvector(low, word_vector) & 0xffff) |
         __builtin_convertvector(high, word_vector) << 16;
}

// Reads elements of 8 or 16 bits as integers with at most `limit` bits in a product. Returns false
// if these do not suffice. Sets the unit of a product.
inline bool read_tile(const matrix_site& site, const product_sources& from, int limit, int& unit,
                      integer_tile& s) {
  const int count = site.b_count;
  const bool has_bytes = site.width == 8;
  half_range a, b;
  for (int n = 0; n < 3 * count; ++n) {
    half_range& range = n < count ? b : a;
    const u32* const from_register = n < count ? from.b[n] : from.a[n - count];
    for (int v = 0; v < warp_size; v += vector_lanes) {
      visit_halves(has_bytes, loaded<word_vector>(from_register + v),
                   [&](const word_vector& words, int) { range.add(words); });
    }
  }
  const element_format &a_format = format_of(site.a_type), &b_format = format_of(site.b_type);
  integer_format a_integers, b_integers;
  if (!a_integers.set(a_format, a) || !b_integers.set(b_format, b)) return false;
  unit = a_integers.unit + b_integers.unit;
  if (a_integers.bits > 15 || b_integers.bits > 15 || unit > 0 || unit < -60 ||
      a_integers.bits + b_integers.bits > limit) {
    return false;
  }
  const float b_scale = from_bits(static_cast<u32>(127 - b_integers.unit) << 23);
  float a_scale = from_bits(static_cast<u32>(127 - a_integers.unit) << 23);
  if (site.negates_a != site.negates_b) a_scale = -a_scale;
  for (int r = 0; r < count; ++r) {
    visit_columns(from.a[2 * r], from.a[2 * r + 1], [&](int row, word_vector* x) {
#pragma GCC unroll 1
      for (int t = 0; t < row_words; ++t) {
        visit_halves(has_bytes, x[t], [&](const word_vector& words, int half) {
          stored(s.a[row_words * (half * count + r) + t] + row,
                 integer_pair(a_format, a_scale, words));
        });
      }
    });
    for (int v = 0; v < warp_size; v += vector_lanes) {
      visit_halves(has_bytes, loaded<word_vector>(from.b[r] + v),
                   [&](const word_vector& words, int half) {
                     stored(s.b[half * count + r] + v, integer_pair(b_format, b_scale, words));
                   });
    }
  }
  return true;
}

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
