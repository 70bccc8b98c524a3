// SPDX-License-Identifier: Apache-2.0
// D = A * B + C of one warp, for all types and forms, with the numerics of an H100.
//
// The handlers multiply the frequent forms faster, with equal results.
#pragma once

#include <cstdint>

#include "emulator/exec/matrix/matrix_site.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

inline constexpr int product_columns = 8, product_rows = 16;

// Registers of all lanes, each 32 words. Those that an instruction lacks name any registers.
struct product_sources {
  const std::uint32_t *a[4], *b[4], *c[4];
  const std::uint32_t *metadata = nullptr, *scale_a = nullptr, *scale_b = nullptr;
};
using product_results = std::uint32_t[4][warp_size];

product_sources sources_of(const matrix_site& site, const source_list& sources) noexcept;

// Throws matrix_error if the metadata of a sparse A are invalid.
void multiply(const matrix_site& site, const product_sources& from, product_results& d);

// A nibble of metadata that names no valid pair of columns.
struct matrix_error {
  int lane = 0;
  std::uint32_t metadata = 0;
};

// Multiplies matrices of an instruction, and reports wrong metadata.
void multiply_tile(warp& w, const instruction& instr, const product_sources& from,
                   product_results& d);
// Writes results to the registers of the lanes that take part.
void write_results(warp& w, const matrix_site& site, const product_results& d);

// Handles mma of every type but f64.
void run_product(warp& w, const instruction& instr);

// A finite number is sig * 2^(top - 10). An infinity has the significand one.
struct matrix_term {
  std::int32_t sig = 0, top = 0;
  bool is_infinite = false, is_nan = false;
};
// Returns the value of an element in the low bits. e4m3 is normalized if `is_widened`.
matrix_term term_of(ptx::scalar_type type, std::uint32_t bits, bool is_widened);

}  // namespace halfwarp::emulator::exec
