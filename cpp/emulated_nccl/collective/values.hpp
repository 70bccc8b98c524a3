// SPDX-License-Identifier: Apache-2.0
// Arithmetic of all data types, by the type that holds the intermediate values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated_nccl/interface.hpp"

namespace halfwarp::emulated_nccl {

inline constexpr std::size_t block_elements = 256;

// Intermediate values of up to `block_elements` elements. Integers wrap around in 64 bits, which
// gives the same lower bits as their own width. Floats of 8 and 16 bits are computed as float.
union value_block {
  std::int64_t integers[block_elements];
  float floats[block_elements];
  double doubles[block_elements];
};

void load_values(data_type type, const unsigned char* from, std::size_t count, value_block& to);
// Rounds to nearest even. An 8-bit float beyond the largest finite number becomes that number.
void store_values(data_type type, const value_block& from, std::size_t count, unsigned char* to);

// Combines the values with the values of another rank. `operation`: sum, prod, max or min.
void combine_values(data_type type, reduction operation, const value_block& other,
                    std::size_t count, value_block& sum);
// Divides each value, as the average does. Integers are rounded toward zero.
void divide_values(data_type type, int divisor, std::size_t count, value_block& values);
// Multiplies each value by the first one of `scalar`.
void scale_values(data_type type, const value_block& scalar, std::size_t count,
                  value_block& values);

}  // namespace halfwarp::emulated_nccl
