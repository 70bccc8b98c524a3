// SPDX-License-Identifier: Apache-2.0
// The shapes and types of mma and wmma, which the decoder and the verifier share.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "emulator/ptx/mnemonic.hpp"

namespace halfwarp::emulator::ptx {

struct matrix_shape {
  qualifier word;
  std::uint8_t rows;
  std::uint16_t depth;
};

// The types that mma multiplies, and the shapes of each.
enum class element_family {
  none,
  half,
  bfloat,
  tf32,
  small_float,
  tiny_float,
  f64,
  byte,
  nibble,
  bit
};
struct matrix_family {
  element_family of;
  qualifier kind;  // unknown: no word
  std::initializer_list<qualifier> dense, sparse;
  std::initializer_list<scalar_type> accumulators;
};

element_family family_of(scalar_type type) noexcept;
bool is_sparse(const mnemonic& m) noexcept;
// Return the shape of mma, and the family of its shape and types; null: none. Halves of m8n8k4
// have no family.
const matrix_shape* find_shape(const mnemonic& m) noexcept;
const matrix_family* find_family(const mnemonic& m) noexcept;

// A shape of wmma: the rows of A, the columns of B, and the columns of A.
struct wmma_shape {
  qualifier word;
  int m, n, k;
};
const wmma_shape* find_wmma_shape(const mnemonic& m) noexcept;  // null: none

}  // namespace halfwarp::emulator::ptx
