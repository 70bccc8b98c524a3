// SPDX-License-Identifier: Apache-2.0
// Operands of a matrix instruction, which exceed the operands of an instruction.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/exec/instruction.hpp"
#include "emulator/ptx/vocabulary/types.hpp"

namespace halfwarp::emulator::exec {

enum class bit_product : std::uint8_t { none, xor_popc, and_popc };

// How the hardware adds floating-point products.
enum class addition : std::uint8_t {
  one_step,   // C and all products together
  two_steps,  // of 8-bit floats: two sums of products, then C to the nearest number
};

// The place of the four bytes of a register in its matrices.
enum class byte_layout : std::uint8_t {
  none,     // the elements have 16 bits
  in_row,   // ldmatrix.m8n16
  in_tall,  // ldmatrix.m16n16.trans: one column of 16 rows
  in_pair,  // stmatrix.m16n8.trans: two rows, columns at a distance of eight
};

// The scales of mma with .block_scale. A lane holds the scales of a row or column in a register.
struct scale_site {
  std::uint8_t vector = 0;  // scales of a row; 0: no scales
  ptx::scalar_type type = ptx::scalar_type::none;
  std::uint8_t byte_a = 0, thread_a = 0, byte_b = 0, thread_b = 0;
};

struct matrix_site {
  // mma: D = A * B + C, with 8 columns of B
  ptx::scalar_type a_type = ptx::scalar_type::none, b_type = ptx::scalar_type::none;
  ptx::scalar_type c_type = ptx::scalar_type::none, d_type = ptx::scalar_type::none;
  std::uint8_t rows = 16;
  std::uint8_t width = 0;   // bits of an element of A or B in a register
  std::uint16_t depth = 0;  // K
  bool is_saturating = false;
  bit_product bits = bit_product::none;
  addition sums = addition::one_step;
  std::uint8_t fraction_bits = 25;         // of a term, below the largest exponent
  std::uint8_t result_fraction_bits = 23;  // of a result of 32 bits
  bool negates_a = false, negates_b = false;
  // mma.sp: A has half of the columns
  bool is_sparse = false, may_descend = false;  // the indices of a pair
  std::uint8_t selector = 0;
  scale_site scales;
  // ldmatrix, stmatrix, movmatrix
  bool is_transposed = false;
  std::uint8_t matrices = 0;  // of eight rows; m16n16 counts as two
  byte_layout bytes = byte_layout::none;
  std::uint8_t narrow_bits = 8;  // of elements that ldmatrix expands to bytes
  operand_slot address = 0;      // offset in shared memory, 64 bits

  // Registers of A, B and C, the metadata, then the scales of A and B.
  static constexpr int max_sources = 16;
  std::uint8_t a_count = 0, b_count = 0, c_count = 0, d_count = 0, source_count = 0;
  std::array<operand_slot, max_sources> sources{};
  std::array<operand_slot, 4> d{};

  // wgmma: N columns in blocks of 8. The accumulators are the registers of all blocks. For
  // mma.m8n8k4 of halves, they are the registers of D.
  std::uint16_t columns = 0;
  bool has_a_descriptor = false, transposes_a = false, transposes_b = false;
  operand_slot a_descriptor = 0, b_descriptor = 0;
  operand_slot adds_c = 0;  // a predicate
  std::vector<operand_slot> accumulators;

  void add_source(operand_slot slot) noexcept { sources[source_count++] = slot; }
  int a_depth() const noexcept { return is_sparse ? depth / 2 : depth; }
};

// Handles mma.m8n8k4 of halves.
void run_quad_product(warp& w, const instruction& instr);
// Returns the site of an instruction, whose `target` is its index in function_code::matrices.
const matrix_site& matrix_of(const warp& w, const instruction& instr) noexcept;

// Expands 16 elements of 4 or 6 bits in the first bytes of a unit to bytes, `shift` bits higher.
void expand_unit(std::uint8_t* unit, int bits, int shift) noexcept;

void run_load_matrix(warp& w, const instruction& instr);
void run_store_matrix(warp& w, const instruction& instr);
void run_transpose_matrix(warp& w, const instruction& instr);
// Only requires that the whole warp executes the instruction.
void run_whole_warp(warp& w, const instruction& instr);

// Registers of all lanes, in the order of matrix_site::sources.
using source_list = std::array<const void*, matrix_site::max_sources>;
// Finds the sources, whose registers have `bytes` bytes. Returns false if the lanes arrive in
// several splits and have not all arrived.
bool find_sources(warp& w, const matrix_site& site, int bytes, source_list& sources);

// Returns the offsets in shared memory of the rows of 16 bytes that ldmatrix or stmatrix accesses,
// without wrong addresses.
std::vector<std::uint64_t> row_units(warp& w, const instruction& instr);

// Throws kernel_fault unless all lanes of the warp execute the instruction.
void require_whole_warp(const warp& w, const instruction& instr);

}  // namespace halfwarp::emulator::exec
