// SPDX-License-Identifier: Apache-2.0
// Operands of a matrix instruction, which exceed the operands of an instruction.
#pragma once

#include <array>
#include <cstdint>

#include "emulator/exec/instruction.hpp"
#include "emulator/ptx/vocabulary/types.hpp"

namespace halfwarp::emulator::exec {

enum class bit_product : std::uint8_t { none, xor_popc, and_popc };

struct matrix_site {
  // mma: D = A * B + C, with 8 columns of B
  ptx::scalar_type a_type = ptx::scalar_type::none, b_type = ptx::scalar_type::none;
  ptx::scalar_type c_type = ptx::scalar_type::none;  // also of D
  std::uint8_t rows = 16;
  std::uint16_t depth = 0;  // K
  bool is_saturating = false;
  bit_product bits = bit_product::none;
  // ldmatrix, stmatrix, movmatrix
  bool is_transposed = false;
  std::uint8_t matrices = 0;
  operand_slot address = 0;  // offset in shared memory, 64 bits

  std::uint8_t a_count = 0, b_count = 0, c_count = 0;
  std::array<operand_slot, 8> a{};
  std::array<operand_slot, 4> b{}, c{}, d{};
};

// Returns the site of an instruction, whose `target` is its index in function_code::matrices.
const matrix_site& matrix_of(const warp& w, const instruction& instr) noexcept;

void run_load_matrix(warp& w, const instruction& instr);
void run_store_matrix(warp& w, const instruction& instr);
void run_transpose_matrix(warp& w, const instruction& instr);

// Throws kernel_fault unless all lanes of the warp execute the instruction.
void require_whole_warp(const warp& w, const instruction& instr);

}  // namespace halfwarp::emulator::exec
