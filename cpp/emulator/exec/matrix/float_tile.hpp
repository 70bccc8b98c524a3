// SPDX-License-Identifier: Apache-2.0
// The elements of A and B of one mma as floats, which all instruction sets share.
#pragma once

#include <cstdint>

#include "emulator/exec/matrix/product.hpp"

namespace halfwarp::emulator::exec {

// Like the hardware, no exponent of a subnormal number is normalized. A bias is added to exponents
// of B: no exponent of a product is negative.
inline constexpr std::int32_t zero_top = -8192;  // of a zero; sums of two fit in 16 bits
inline constexpr std::int32_t top_bias = 1024 + 127;

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
// other by the number of registers. A word of exponents has the exponents of two elements.
struct float_tile {
  alignas(64) float a[32][product_rows], b[8][warp_size];
  alignas(64) std::int32_t a_top[16][product_rows], b_top[4][warp_size];
  const element_format *a_format, *b_format;
  float sign;               // of products
  bool is_normalized;       // whether subnormal numbers of e4m3 have their own exponents
  int registers;            // of B
  int elements, top_words;  // of columns of A, and of words of their exponents, divided by four
};

// The columns of C or D. Halves share a word with the next column.
struct result_tile {
  alignas(64) std::uint32_t words[product_columns][product_rows];
};

// Sums of the infinities, the NaNs and the signs of all other terms. Other sums are finite.
struct special_sums {
  alignas(64) float values[product_columns][product_rows];
};

// Moves infinities and NaNs from A, B and C to sums. Returns whether there are any.
bool move_specials(const matrix_site& site, float_tile& s, result_tile& c, special_sums& sums);
// Replaces results whose sums are not finite.
void place_specials(const matrix_site& site, const special_sums& sums, result_tile& d);

}  // namespace halfwarp::emulator::exec
