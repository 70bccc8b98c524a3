// SPDX-License-Identifier: Apache-2.0
// Descriptors of tcgen05: the product, and matrices in shared memory.
#pragma once

#include <string>

#include "emulator/exec/matrix/matrix_site.hpp"
#include "emulator/exec/matrix/shared_operand.hpp"
#include "emulator/exec/tensor/tensor_site.hpp"

namespace halfwarp::emulator::exec {

// The product that an instruction descriptor selects.
struct tensor_product {
  ptx::scalar_type a_type = ptx::scalar_type::none, b_type = ptx::scalar_type::none;
  ptx::scalar_type d_type = ptx::scalar_type::none, scale_type = ptx::scalar_type::none;
  int rows = 0, columns = 0;  // M and N
  int width = 0;              // bits of an element of A and B in a register
  bool negates_a = false, negates_b = false, transposes_a = false, transposes_b = false;
  bool is_saturating = false;
  int scale_byte_a = 0, scale_byte_b = 0;
  int block_rows = 0;  // of A and D in a block
  // Few rows use all lanes: parts of the columns lie in parts of the lanes.
  int folds = 1;
};

// Returns the rule that the descriptor breaks; empty: none.
std::string read_product(const tensor_site& site, std::uint32_t descriptor,
                         tensor_product& product);

// Returns the layout of a matrix in shared memory, without the mark of a descriptor for tcgen05.
operand_layout tensor_layout(std::uint64_t descriptor, int bits, bool is_transposed) noexcept;
// Returns the rule that a descriptor of a matrix breaks; empty: none.
std::string layout_problem(std::uint64_t descriptor, bool is_transposed);

}  // namespace halfwarp::emulator::exec
