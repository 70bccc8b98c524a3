// SPDX-License-Identifier: Apache-2.0
// The elements of A and B of one mma as floats, which all instruction sets share.
#pragma once

#include <cstdint>

#include "emulator/exec/matrix/product.hpp"

namespace halfwarp::emulator::exec {

// How to read the elements of a type. Bits of an element move to the place of a float's fraction
// and exponent; the factor corrects the exponent, also of subnormal numbers.
struct element_format {
  int bits, shift;
  std::uint32_t mask;
  float factor;
  std::int32_t lowest_field;   // of the exponent of a float; subnormal numbers of the type have it
  std::int32_t first_special;  // as a float: it is infinite, and larger magnitudes are NaN
  std::int16_t special_bits;   // the least magnitude of a special element of 16 bits
};

// Returns the format of a type. e4m3 and e5m2 are the upper half of 16 bits: e5m2 becomes an f16.
const element_format& format_of(ptx::scalar_type type) noexcept;

// The rows and columns are in the order of matrix_tile.hpp. The elements of a register follow each
// other by the number of registers.
//
// Like the hardware, no exponent of a subnormal number is normalized. Exponents are unsigned bytes,
// or 16 bits for types with large exponents. A difference without borrow is the exponent of a
// product: zero if A or B is zero.
struct float_tile {
  alignas(64) float a[32][product_rows], b[8][warp_size];
  alignas(64) std::uint32_t a_top[8][product_rows], b_top[2][warp_size];
  const element_format *a_format, *b_format;
  float sign;          // of products
  bool is_normalized;  // whether subnormal numbers of e4m3 have their own exponents
  int registers;       // of B
  int elements;        // of columns of A, divided by four
  int top_words;       // of columns of exponents, divided by four
  int top_shift;       // to the exponent of the next register in a word; 0: another word has it
  bool has_bytes() const noexcept { return top_shift == 8; }
};

// Elements as integers. A word has two elements of 16 bits, of different columns of A.
struct integer_tile {
  alignas(64) std::int32_t a[32][product_rows], b[8][warp_size];
};

// How numbers of few bits become integers: a number is an integer times a power of two.
struct integer_format {
  int unit = 0, bits = 1;
  bool is_finite = true;
};

// The elements of the last mma of a thread. Loops of products repeat A or B.
struct tile_cache {
  float_tile tile;
  integer_tile integers;
  integer_format integers_of_a, integers_of_b;
  bool is_special_a = false, is_special_b = false;
  std::uint64_t key = 0;                                       // of the types
  unsigned valid_a = 0, valid_b = 0;                           // bits of tile_part
  alignas(64) std::uint32_t a[4][warp_size], b[4][warp_size];  // the registers
};
// The parts of A or B that the cache has.
enum tile_part : unsigned { float_part = 1, format_part = 2, integer_part = 4 };
tile_cache& cached_tile() noexcept;

// A tile without infinities and NaNs.
struct finite_sources {
  product_sources sources;
  alignas(64) std::uint32_t words[12][warp_size];
};

// Sums of the infinities, the NaNs and the signs of all other terms, in the order of D in f32.
// Other sums are finite.
using special_sums = std::uint32_t[4][warp_size];

// Adds infinities and NaNs, and replaces them by zeros. Returns whether there are any.
bool move_specials(const matrix_site& site, const product_sources& from, const float_tile& s,
                   finite_sources& finite, special_sums& sums);
// Replaces results whose sums are not finite.
void place_specials(const matrix_site& site, const special_sums& sums, product_results& d);

}  // namespace halfwarp::emulator::exec
