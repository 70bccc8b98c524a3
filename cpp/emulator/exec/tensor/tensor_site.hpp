// SPDX-License-Identifier: Apache-2.0
// Operands of a tcgen05 instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/exec/instruction.hpp"
#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::exec {

enum class tensor_kind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

// The registers of a load or store: x32x32b has 32 lanes, the others 16.
enum class tensor_shape : std::uint8_t { x32x32b, x16x64b, x16x128b, x16x256b, x16x32bx2 };

// The lanes that receive the rows of a copy.
enum class tensor_rows : std::uint8_t { all_128, pairs_02_13, pairs_01_23, each_32 };

struct tensor_site {
  operand_slot address = 0;  // in tensor memory
  bool is_pair = false;      // cta_group::2
  // ld, st
  tensor_shape shape = tensor_shape::x32x32b;
  bool is_packed = false;     // a register has the low halves of two columns
  std::int32_t distance = 0;  // of x16x32bx2: columns from the first to the second half
  std::vector<operand_slot> registers;
  std::uint32_t early_reader = ptx::no_index;  // an instruction that reads a result before the wait
  // ld.red: the minimum or maximum of the registers of a lane
  ptx::scalar_type reduced = ptx::scalar_type::none;
  bool is_highest = false, is_absolute = false, keeps_nan = false;
  operand_slot reduction = 0;
  // cp
  tensor_rows rows = tensor_rows::all_128;
  int units = 1;         // of 16 bytes, in a row
  int element_bits = 8;  // 4, 6: the copy expands elements to bytes
  // mma
  tensor_kind kind = tensor_kind::f16;
  bool has_tensor_a = false;
  operand_slot a = 0, b = 0, descriptor = 0;
  operand_slot adds_d = 0;  // a predicate
  int vector = 0;           // scales of a row
  operand_slot scale_a = 0, scale_b = 0;
  int d_shift = 0;                     // D is divided by two to this power before the addition
  std::vector<operand_slot> disabled;  // masks of lanes of D
  bool is_sparse = false, is_stationary = false;  // .sp, .ws
  operand_slot metadata = 0;                      // of .sp, an address in tensor memory
  operand_slot zero_columns = 0;                  // of .ws
  bool has_zero_columns = false;
  // commit
  operand_slot barrier = 0, mask = 0;
  bool has_mask = false;
};

}  // namespace halfwarp::emulator::exec
