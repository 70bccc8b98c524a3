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
typedef u16 unsigned_short_vector __attribute__((vector_size(4 * vector_lanes)));
typedef std::uint8_t byte_vector __attribute__((vector_size(4 * vector_lanes)));

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

// Keeps the compiler from a copy of the code for each value.
template <class T>
[[gnu::always_inline]] inline void hide(T& value) {
  asm("" : "+r"(value));
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

// Loads a vector of each of the four words of rows, which start at `row`.
[[gnu::always_inline]] inline void load_columns(const u32* upper, const u32* lower, int row,
                                                word_vector (&x)[4]) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) x[i] = loaded<word_vector>(place_of(upper, lower, row, i));
  transpose(x);
}

// Calls visit(row, columns) for all rows.
template <class Visit>
[[gnu::always_inline]] inline void visit_columns(const u32* upper, const u32* lower, Visit visit) {
  for (int row = 0; row < product_rows; row += vector_lanes) {
    word_vector x[4];
    load_columns(upper, lower, row, x);
    visit(row, x);
  }
}

// Rows of four columns of C and D: the even or the odd ones.
struct column_group {
  int parity, row;

  // Returns the first word of the first column in a row of B. Columns have a distance of eight.
  template <class T>
  [[gnu::always_inline]] const T* first(const T (&lanes)[warp_size]) const {
    const T* result = lanes + 4 * parity;
    hide(result);  // one register for the addresses of all columns
    return result;
  }
};

// The registers of C and D. Words of halves have two columns, or the even and the odd columns have
// own registers.
struct register_layout {
  bool has_half_c, has_half_d, has_lower;
};

// Loads the columns of C of a group.
[[gnu::always_inline]] inline void load_group(register_layout layout, const product_sources& from,
                                              column_group at, word_vector (&x)[4]) {
  const int n = layout.has_half_c ? 0 : at.parity;
  const int lower = layout.has_half_c ? 1 : layout.has_lower ? n + 2 : n;
  load_columns(from.c[n], from.c[lower], at.row, x);
  if (!layout.has_half_c || !at.parity) return;
#pragma GCC unroll 4
  for (word_vector& each : x) each >>= 16;
}

// Stores the columns of D of a group. The odd columns of halves follow the even ones.
[[gnu::always_inline]] inline void store_group(register_layout layout, column_group at,
                                               word_vector (&x)[4], product_results& d) {
  alignas(64) u32 unused[warp_size];
  u32* const upper = d[layout.has_half_d ? 0 : at.parity];
  u32* const lower = layout.has_half_d ? d[1] : layout.has_lower ? d[at.parity + 2] : unused;
  transpose(x);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    u32* const to = place_of(upper, lower, at.row, i);
    if (layout.has_half_d && at.parity) x[i] = x[i] << 16 | loaded<word_vector>(to);
    stored(to, x[i]);
  }
}

// Calls compute(group, columns) for each group. It replaces the columns of C by columns of D.
template <class Compute>
[[gnu::always_inline]] inline void visit_groups(register_layout layout, const product_sources& from,
                                                product_results& d, Compute compute) {
  for (int row = 0; row < product_rows; row += vector_lanes) {
#pragma GCC unroll 1
    for (int parity = 0; parity < 2; ++parity) {
      hide(parity);
      const column_group at{parity, row};
      word_vector x[4];
      load_group(layout, from, at, x);
      compute(at, x);
      store_group(layout, at, x, d);
    }
  }
}

// Columns of A, or words of columns: their quotient by four.
struct step_range {
  int first, last;
};

// ---- integers

// Returns pair n of the elements of a register.
[[gnu::always_inline]] inline word_vector read_pair(ptx::scalar_type type, int width,
                                                    const word_vector& words, int n) {
  const bool is_signed = type == ptx::scalar_type::s8 || type == ptx::scalar_type::s4;
  const auto high = reinterpret_cast<short_vector>(words) << (16 - width * (n + 1));
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

// Adds the products of words of A.
[[gnu::always_inline]] inline void add_pairs(const integer_tile& s, step_range words,
                                             column_group at, word_vector (&sums)[4]) {
  for (int n = words.first; n < words.last; ++n) {
    const i32* const b = at.first(s.b[n]);
#pragma GCC unroll 4
    for (int t = 0; t < 4; ++t) {
      const auto a = loaded<word_vector>(s.a[4 * n + t] + at.row);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        sums[j] += pair_products(a, word_vector{} + b[8 * j + t]);
      }
    }
  }
}

// ---- floating point

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

// Returns the difference of unsigned lanes, or zero if it is negative.
[[gnu::always_inline]] inline byte_vector reduced(const byte_vector& a, const byte_vector& b) {
#ifdef __AVX512BW__
  return (byte_vector)_mm512_subs_epu8((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (byte_vector)_mm256_subs_epu8((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (byte_vector)_mm_subs_epu8((__m128i)a, (__m128i)b);
#else
  return a > b ? a - b : byte_vector{};
#endif
}
[[gnu::always_inline]] inline unsigned_short_vector reduced(const unsigned_short_vector& a,
                                                            const unsigned_short_vector& b) {
#ifdef __AVX512BW__
  return (unsigned_short_vector)_mm512_subs_epu16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (unsigned_short_vector)_mm256_subs_epu16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (unsigned_short_vector)_mm_subs_epu16((__m128i)a, (__m128i)b);
#else
  return a > b ? a - b : unsigned_short_vector{};
#endif
}

// An exponent of a product is a byte like the exponent of a float, or has 16 bits and this offset.
inline constexpr int top_offset = 512;

// The way to read the elements of A or B. The next elements of words follow `stride` later.
struct element_site {
  element_format format;
  bool is_normalized;
  int stride;
  int top;  // what a field of an exponent lacks

  element_site(const element_format& of, const float_tile& s, int lanes)
      : format(of), is_normalized(s.is_normalized && of.shift == 4), stride(s.registers * lanes) {
    const int bias = of.bits == 16 ? 0x7fff >> (7 + of.shift) >> 1 : 127;
    top = (s.has_bytes() ? 255 + 127 : 65535 + 127 + top_offset) / 2 - bias;
  }
};

// Reads the two elements of 16 bits in each word. Returns their exponents, and the magnitudes.
[[gnu::always_inline]] inline short_vector read_halves(const element_site& site,
                                                       const word_vector& words, float* values,
                                                       short_vector& magnitude) {
  stored(values, upper_elements(site.format, words << 16));
  stored(values + site.stride, upper_elements(site.format, words));
  magnitude = reinterpret_cast<short_vector>(words) & 0x7fff;
  const short_vector field = magnitude >> (7 + site.format.shift), one = short_vector{} + i16{1};
  const short_vector top = (field > one ? field : one) + static_cast<i16>(site.top);
  return magnitude == 0 ? short_vector{} : top;
}

// Returns what the exponents of subnormal numbers of e4m3 lack, which have three bits.
[[gnu::always_inline]] inline short_vector normalization(const short_vector& magnitude) {
  short_vector result = {};
  for (int bit : {11, 10, 9}) {
    const auto first = static_cast<i16>(1 << bit);
    result += magnitude > 0 ? magnitude < first : short_vector{};
  }
  return result;
}

// Reads the elements of 8 or 32 bits in each word, and their exponents. Returns whether they are
// special.
[[gnu::noinline]] inline word_vector read_words(const element_site& site, const word_vector& words,
                                                float* values, word_vector (&tops)[2]) {
  if (site.format.bits == 16) {
    word_vector special = {};
    visit_halves(true, words, [&](const word_vector& pair, int half) {
      short_vector magnitude;
      short_vector top = read_halves(site, pair, values + 2 * half * site.stride, magnitude);
      if (site.is_normalized) top += normalization(magnitude);
      tops[half] = reinterpret_cast<word_vector>(top);
      special |= reinterpret_cast<word_vector>(magnitude >= site.format.special_bits);
    });
    return special;
  }
  const float_vector value = upper_elements(site.format, words);
  stored(values, value);
  const word_vector magnitude = reinterpret_cast<word_vector>(value) & 0x7fff'ffff;
  const word_vector field = magnitude >> 23;
  const word_vector top = (field > 1 ? field : word_vector{} + 1) + site.top;
  tops[0] = magnitude == 0 ? word_vector{} : top;
  return magnitude >= site.format.first_special;
}

// Stores exponents of register r. An earlier register may share the words.
[[gnu::always_inline]] inline void put_tops(const float_tile& s, int r, word_vector tops, i32 flip,
                                            u32* to) {
  if (r && s.top_shift) tops = tops << s.top_shift | (loaded<word_vector>(to) ^ flip);
  stored(to, tops ^ flip);
}

// Calls read(site, words, values, tops) for the words of A or B.
template <bool is_a, class Read>
[[gnu::always_inline]] inline void visit_words(const product_sources& from, float_tile& s,
                                               int halves, Read read) {
  element_site site{is_a ? *s.a_format : *s.b_format, s,
                    is_a ? row_words * product_rows : warp_size};
  if (is_a) site.format.factor *= s.sign;
  const auto visit = [&](int r, int place, const word_vector& words, float* values, u32* to,
                         int distance) __attribute__((always_inline)) {
    word_vector tops[2];
    read(site, words, values + place, tops);
    for (int half = 0; half < halves; ++half) {
      put_tops(s, r, tops[half], is_a ? 0 : -1, to + (s.top_shift ? half : r) * distance + place);
    }
  };
  for (int r = 0; r < s.registers; ++r) {
    if constexpr (is_a) {
      visit_columns(from.a[2 * r], from.a[2 * r + 1], [&](int row, word_vector* x) {
#pragma GCC unroll 1
        for (int t = 0; t < row_words; ++t) {
          visit(r, row, x[t], s.a[row_words * r + t], s.a_top[t], row_words * product_rows);
        }
      });
    } else {
      for (int v = 0; v < warp_size; v += vector_lanes) {
        visit(r, v, loaded<word_vector>(from.b[r] + v), s.b[r], s.b_top[0], warp_size);
      }
    }
  }
}

// Reads A or B. Returns whether an element is infinite or NaN.
template <bool is_a>
bool read_part(int width, const product_sources& from, float_tile& s) {
  if (width != 16) {
    word_vector special = {};
    visit_words<is_a>(
        from, s, width == 8 ? 2 : 1, [&](auto&&... each) __attribute__((always_inline)) {
          special |= read_words(each...);
        });
    return is_any(special);
  }
  short_vector highest = {};  // infinities and NaNs have the largest magnitudes
  visit_words<is_a>(
      from, s, 1,
      [&](const element_site& site, const word_vector& words, float* values, word_vector* tops)
          __attribute__((always_inline)) {
            short_vector magnitude;
            const short_vector top = read_halves(site, words, values, magnitude);
            tops[0] = reinterpret_cast<word_vector>(top);
            highest = highest > magnitude ? highest : magnitude;
          });
  return is_any(reinterpret_cast<word_vector>(highest >= s.a_format->special_bits));
}

// Calls read(register, place, words) for the words of A or B. Places are lanes of the words of a
// register.
template <class Read>
[[gnu::always_inline]] inline void visit_registers(bool is_a, const product_sources& from,
                                                   int count, Read read) {
  for (int r = 0; r < count; ++r) {
    for (int row = 0; row < (is_a ? product_rows : vector_lanes); row += vector_lanes) {
      word_vector x[4];
      const u32* words = from.b[r];
      int vectors = warp_size / vector_lanes, distance = vector_lanes;
      if (is_a) {
        load_columns(from.a[2 * r], from.a[2 * r + 1], row, x);
        words = reinterpret_cast<const u32*>(x);
        vectors = row_words;
        distance = product_rows;
      }
#pragma GCC unroll 1
      for (int i = 0; i < vectors; ++i) {
        read(r, i * distance + row, loaded<word_vector>(words + i * vector_lanes));
      }
    }
  }
}
// The lanes of the words of a register.
inline int register_lanes(bool is_a) { return is_a ? row_words * product_rows : warp_size; }

// Returns whether registers equal the last ones. Keeps other registers.
[[gnu::always_inline]] inline bool is_repeated(const u32* const* from, int count,
                                               u32 (&last)[4][warp_size]) {
  word_vector difference = {};
  for (int n = 0; n < count; ++n) {
    for (int v = 0; v < warp_size; v += vector_lanes) {
      difference |= loaded<word_vector>(from[n] + v) ^ loaded<word_vector>(last[n] + v);
    }
  }
  if (!is_any(difference)) return true;
  for (int n = 0; n < count; ++n) __builtin_memcpy(last[n], from[n], sizeof last[n]);
  return false;
}

// Forgets the parts of a tile that new registers or types change.
inline void update(const matrix_site& site, const product_sources& from, tile_cache& cache) {
  const bool is_negative = site.negates_a != site.negates_b;
  const bool has_steps = site.sums == addition::two_steps;
  const u64 key = 1 | u64{is_negative} << 1 | u64{has_steps} << 2 | u64{site.b_count} << 8 |
                  u64{site.width} << 16 | static_cast<u64>(site.a_type) << 24 |
                  static_cast<u64>(site.b_type) << 32;
  if (!is_repeated(from.a, 2 * site.b_count, cache.a)) cache.valid_a = 0;
  if (!is_repeated(from.b, site.b_count, cache.b)) cache.valid_b = 0;
  if (key == cache.key) return;
  cache.key = key;
  cache.valid_a = cache.valid_b = 0;
  float_tile& s = cache.tile;
  s.a_format = &format_of(site.a_type);
  s.b_format = &format_of(site.b_type);
  s.is_normalized = has_steps;
  s.sign = is_negative ? -1 : 1;
  s.registers = site.b_count;
  s.elements = site.b_count * (32 / site.width);
  s.top_shift = site.width == 32 ? 16 : s.a_format->shift ? 8 : 0;
  s.top_words = s.top_shift ? (site.width == 8 ? 2 : 1) : s.registers;
}

// Returns whether an element is infinite or NaN.
inline bool read_tile(int width, const product_sources& from, tile_cache& cache) {
  if (!(cache.valid_a & float_part)) {
    cache.is_special_a = read_part<true>(width, from, cache.tile);
    cache.valid_a |= float_part;
  }
  if (!(cache.valid_b & float_part)) {
    cache.is_special_b = read_part<false>(width, from, cache.tile);
    cache.valid_b |= float_part;
  }
  return cache.is_special_a || cache.is_special_b;
}

// Returns the largest exponents of the products of columns of D, in all parts of each word. They
// are zero without a product.
template <class Vector>
[[gnu::always_inline]] inline void find_highest(const float_tile& s, step_range words,
                                                column_group at, unsigned_vector (&result)[4]) {
  Vector highest[4] = {};
  for (int n = words.first; n < words.last; ++n) {
    const u32* const words_of_b = at.first(s.b_top[n]);
#pragma GCC unroll 4
    for (int t = 0; t < 4; ++t) {
      const auto a = loaded<Vector>(s.a_top[4 * n + t] + at.row);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const auto b = reinterpret_cast<Vector>(unsigned_vector{} + words_of_b[8 * j + t]);
        const Vector top = reduced(a, b);
        highest[j] = highest[j] > top ? highest[j] : top;
      }
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 2
    for (int distance = 16; distance >= 8 * static_cast<int>(sizeof(highest[0][0]));
         distance /= 2) {
      const auto word = reinterpret_cast<unsigned_vector>(highest[j]);
      const auto other = reinterpret_cast<Vector>(word << distance | word >> (32 - distance));
      highest[j] = highest[j] > other ? highest[j] : other;
    }
    result[j] = reinterpret_cast<unsigned_vector>(highest[j]);
  }
}

// Adds products that are truncated to the unit of the scale.
[[gnu::always_inline]] inline void add_products(const float_tile& s, step_range columns,
                                                column_group at, const float_vector (&scales)[4],
                                                word_vector (&sums)[4]) {
  for (int n = columns.first; n < columns.last; ++n) {
    const float* const b = at.first(s.b[n]);
#pragma GCC unroll 4
    for (int t = 0; t < 4; ++t) {
      const auto a = loaded<float_vector>(s.a[4 * n + t] + at.row);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const float_vector product = a * b[8 * j + t];
        sums[j] += __builtin_convertvector(product * scales[j], word_vector);
      }
    }
  }
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

// Returns the format of the elements of registers.
[[gnu::noinline]] inline integer_format find_format(const element_format& format, bool has_bytes,
                                                    const u32* const* registers, int count) {
  half_range range;
  for (int n = 0; n < count; ++n) {
    for (int v = 0; v < warp_size; v += vector_lanes) {
      visit_halves(has_bytes, loaded<word_vector>(registers[n] + v),
                   [&](const word_vector& words, int) { range.add(words); });
    }
  }
  integer_format result;
  const int fraction_bits = 7 + format.shift, bias = 0x7fff >> fraction_bits >> 1;
  const int highest = highest_lane(range.highest);
  result.is_finite = highest < format.special_bits;
  if (highest == 0) return result;
  const int lowest = 32768 - highest_lane(range.lowest);
  const auto exponent = [&](int magnitude) {
    const int field = magnitude >> fraction_bits;
    return (field > 1 ? field : 1) - bias;
  };
  const u32 used = used_bits(range.used) | 1u << fraction_bits;
  result.unit = exponent(lowest) - fraction_bits + __builtin_ctz(used);
  result.bits = exponent(highest) - result.unit + 1;
  return result;
}

// Returns pairs of integers, from pairs of elements. The scale and the factor of a format would
// overflow together.
[[gnu::always_inline]] inline word_vector integer_pair(const element_format& format, float scale,
                                                       const word_vector& words) {
  const float_vector low = upper_elements(format, words << 16) * scale;
  const float_vector high = upper_elements(format, words) * scale;
  return (__builtin_convertvector(low, word_vector) & 0xffff) |
         __builtin_convertvector(high, word_vector) << 16;
}

// Reads A or B as integers of a unit.
[[gnu::noinline]] inline void read_integers(bool is_a, bool has_bytes, const product_sources& from,
                                            const float_tile& s, int unit, integer_tile& to) {
  const element_format& format = is_a ? *s.a_format : *s.b_format;
  const float power = from_bits(static_cast<u32>(127 - unit) << 23);
  const float scale = is_a ? power * s.sign : power;
  const int lanes = register_lanes(is_a);
  i32* const first = is_a ? to.a[0] : to.b[0];
  visit_registers(
      is_a, from,
      s.registers, [&](int r, int place, const word_vector& words) __attribute__((always_inline)) {
        visit_halves(has_bytes, words, [&](const word_vector& pair, int half) {
          stored(first + (half * s.registers + r) * lanes + place,
                 integer_pair(format, scale, pair));
        });
      });
}

// Reads elements of 8 or 16 bits as integers with at most `limit` bits in a product. Returns false
// if these do not suffice. Sets the unit of a product.
inline bool read_tile(const product_sources& from, bool has_bytes, int limit, int& unit,
                      tile_cache& cache) {
  const float_tile& s = cache.tile;
  integer_format &a = cache.integers_of_a, &b = cache.integers_of_b;
  if (!(cache.valid_a & format_part)) {
    a = find_format(*s.a_format, has_bytes, from.a, 2 * s.registers);
  }
  if (!(cache.valid_b & format_part)) b = find_format(*s.b_format, has_bytes, from.b, s.registers);
  cache.valid_a |= format_part;
  cache.valid_b |= format_part;
  unit = a.unit + b.unit;
  const bool is_short = a.bits <= 15 && b.bits <= 15 && a.bits + b.bits <= limit;
  if (!a.is_finite || !b.is_finite || !is_short || unit > 0 || unit < -60) return false;
  if (!(cache.valid_a & integer_part)) {
    read_integers(true, has_bytes, from, s, a.unit, cache.integers);
  }
  if (!(cache.valid_b & integer_part)) {
    read_integers(false, has_bytes, from, s, b.unit, cache.integers);
  }
  cache.valid_a |= integer_part;
  cache.valid_b |= integer_part;
  return true;
}

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
