// SPDX-License-Identifier: Apache-2.0
// Parts of the decoders of matrix instructions.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "emulator/exec/decode/opcodes.hpp"

namespace halfwarp::emulator::exec {

// Emit an instruction that all lanes of the warp execute together.
void emit_together(function_decoder& d, handler run, std::uint32_t target = 0);
void emit_for_warp(function_decoder& d, handler run, const matrix_site& site);
// Return the elements of a vector, or the register itself.
std::span<const ptx::operand> registers_of(const function_decoder& d, const ptx::operand& o);
std::span<const ptx::operand> require_registers(const function_decoder& d, const ptx::operand& o,
                                                std::size_t count);
void require_aligned(const ptx::mnemonic& m);
// Returns the layouts .row and .col in the order of the text.
std::vector<ptx::qualifier> layouts_of(const ptx::mnemonic& m);

// The types of a product.
struct product_types {
  ptx::scalar_type d, a, b, c;
};
// The registers of a product, and of its results.
struct product_slots {
  std::vector<operand_slot> a, b, c, d;
};

// Returns the site of a dense product of `rows` x 8 x `depth` elements without operands.
matrix_site make_product(const product_types& types, int rows, int depth);
// Sets the registers of a site. Throws unsupported if their number is wrong.
void set_registers(matrix_site& site, const product_slots& slots);
// Emits the fastest handler of the site.
void emit_product(function_decoder& d, const matrix_site& site);
// Returns the bits of a register of A, B, C and D.
int product_register_bits(const matrix_site& site);

}  // namespace halfwarp::emulator::exec
