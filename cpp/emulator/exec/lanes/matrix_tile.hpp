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
#include "emulator/exec/matrix/product.hpp"

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

// ---- floating point

// How to read the elements of a type. Bits of an element move to the place of a float's fraction
// and exponent; the factor corrects the exponent, also of subnormal numbers.
struct element_format {
  int bits, shift;
  u32 mask;
  float factor;
  i32 lowest_field;   // of the exponent of a float; subnormal numbers of the type have it
  i32 first_special;  // as a float: larger magnitudes are infinite or NaN
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

// Returns the element in the upper bits of each word.
[[gnu::always_inline]] inline float_vector upper_elements(const element_format& format,
                                                          const word_vector& words) {
  const auto raw = reinterpret_cast<unsigned_vector>(words >> format.shift) & format.mask;
  return reinterpret_cast<float_vector>(raw) * format.factor;
}
[[gnu::always_inline]] inline element_vectors read_elements(const element_format& format,
                                                            const word_vector& words, int e) {
  const float_vector value = upper_elements(format, words << (32 - format.bits * (e + 1)));
  const word_vector magnitude = reinterpret_cast<word_vector>(value) & 0x7fff'ffff;
  word_vector field = magnitude >> 23;
  field = field > format.lowest_field ? field : word_vector{} + format.lowest_field;
  const word_vector top = magnitude == 0 ? word_vector{} + zero_top : field - 127;
  return {value, top, magnitude >= format.first_special};
}

// A word of exponents has the exponents of two columns of k.
struct float_tile {
  alignas(64) float a[32][product_rows], b[8][warp_size];
  alignas(64) i32 a_top[16][product_rows], b_top[4][warp_size];
  int elements, top_words;  // of columns of A, and of words of their exponents, divided by four
  word_vector used = {};    // the union of all words, of elements of 16 bits
  bool is_half;             // whether elements have 16 bits
};

// Reads the two elements of 16 bits in each word. The second elements follow `stride` later.
[[gnu::always_inline]] inline word_vector read_halves(const element_format& format,
                                                      const word_vector& words, int stride,
                                                      float* values, i32* tops) {
  stored(values, upper_elements(format, words << 16));
  stored(values + stride, upper_elements(format, words));
  const short_vector magnitude = reinterpret_cast<short_vector>(words) & 0x7fff;
  const int fraction_bits = 7 + format.shift;
  const i16 last_field = static_cast<i16>(0x7fff >> fraction_bits);
  const short_vector field = magnitude >> fraction_bits, one = short_vector{} + i16{1};
  const short_vector top = (field > one ? field : one) - static_cast<i16>(last_field / 2);
  stored(tops, magnitude == 0 ? short_vector{} + i16{zero_top} : top);
  return reinterpret_cast<word_vector>(field == last_field);
}

// Reads the elements of words. The next element of a word follows `stride` later.
[[gnu::noinline]] inline word_vector read_words(const element_format& format,
                                                const word_vector& words, int stride, float* values,
                                                i32* tops) {
  word_vector special = {};
  for (int e = 0; e < 32 / format.bits; e += 2) {
    const element_vectors low = read_elements(format, words, e);
    word_vector high_top = word_vector{} + zero_top;
    special |= low.special;
    stored(values + e * stride, low.value);
    if (format.bits < 32) {
      const element_vectors high = read_elements(format, words, e + 1);
      special |= high.special;
      high_top = high.top;
      stored(values + (e + 1) * stride, high.value);
    }
    stored(tops + e / 2 * stride, (low.top & 0xffff) | high_top << 16);
  }
  return special;
}

// Returns false if an element is special. Read(format, words, stride, values, tops) reads words.
template <class Read>
[[gnu::always_inline]] inline bool read_tile(const product_sources& from, int count,
                                             const element_format& a, const element_format& b,
                                             float_tile& s, Read read) {
  word_vector special = {};
  for (int r = 0; r < count; ++r) {
    visit_columns(from.a[2 * r], from.a[2 * r + 1], [&](int row, word_vector* x) {
      for (int t = 0; t < 4; ++t) {
        const int n = row_words * r + t;
        special |= read(a, x[t], row_words * count * product_rows, s.a[n] + row, s.a_top[n] + row);
      }
    });
    for (int v = 0; v < warp_size; v += vector_lanes) {
      const auto words = loaded<word_vector>(from.b[r] + v);
      special |= read(b, words, count * warp_size, s.b[r] + v, s.b_top[r] + v);
    }
  }
  return !is_any(special);
}

inline bool read_tile(const matrix_site& site, const product_sources& from, float_tile& s) {
  const bool is_widened = site.sums == addition::two_steps;
  element_format a = format_of(site.a_type, is_widened);
  const element_format b = format_of(site.b_type, is_widened);
  if (site.negates_a != site.negates_b) a.factor = -a.factor;
  s.elements = site.b_count * (32 / a.bits);
  s.top_words = a.bits == 32 ? s.elements : s.elements / 2;
  const auto halves = [&](const element_format& format, const word_vector& each, int stride,
                          float* values, i32* tops) __attribute__((always_inline)) {
    s.used |= each;
    return read_halves(format, each, stride, values, tops);
  };
  s.is_half = a.bits == 16;
  return s.is_half ? read_tile(from, site.b_count, a, b, s, halves)
                   : read_tile(from, site.b_count, a, b, s, read_words);
}

// The columns of A that a step adds, as a part of all: their quotient by four.
struct step_range {
  int first, last;
};

// Returns the largest exponents of the products of a column of D.
[[gnu::always_inline]] inline word_vector find_highest(const float_tile& s, step_range words,
                                                       int column, int row) {
  short_vector highest = short_vector{} + i16{-32768};
  for (int n = words.first; n < words.last; ++n) {
#pragma GCC unroll 4
    for (int t = 0; t < 4; ++t) {
      const auto b = reinterpret_cast<short_vector>(word_vector{} + s.b_top[n][4 * column + t]);
      const short_vector sum = loaded<short_vector>(s.a_top[4 * n + t] + row) + b;
      highest = sum > highest ? sum : highest;
    }
  }
  const auto pair = reinterpret_cast<word_vector>(highest);
  const word_vector low = pair << 16 >> 16, high = pair >> 16;
  return low > high ? low : high;
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

// ---- sums that need no rounding

[[gnu::always_inline]] inline float_vector product_sum(const float_vector& a, const float_vector& b,
                                                       const float_vector& c) {
#ifdef __AVX512BW__
  return (float_vector)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__)
  return (float_vector)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  return a * b + c;
#endif
}

// Collects the bits in which numbers differ from multiples of a power of two.
class multiple_check {
 public:
  explicit multiple_check(int exponent)
      : magic_{float_vector{} +
               from_bits(u32{0x40'0000} | static_cast<u32>(exponent + 150) << 23)} {}
  [[gnu::always_inline]] void add(const float_vector& x) {
    const float_vector multiple = x + magic_ - magic_;
    differences_ |= reinterpret_cast<word_vector>(x) ^ reinterpret_cast<word_vector>(multiple);
  }
  // Numbers have at most 22 bits before the power of two.
  bool is_passed() const { return !is_any(differences_ & 0x7fff'ffff); }

 private:
  float_vector magic_;
  word_vector differences_ = {};
};

// Returns the largest exponent of words of exponents.
inline int highest_top(const i32* tops, int count) {
  auto highest = loaded<short_vector>(tops);
  for (int n = vector_lanes; n < count; n += vector_lanes) {
    const auto each = loaded<short_vector>(tops + n);
    highest = each > highest ? each : highest;
  }
  int result = zero_top;
  for (int l = 0; l < 2 * vector_lanes; ++l) result = highest[l] > result ? highest[l] : result;
  return result;
}

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
