// SPDX-License-Identifier: Apache-2.0
// wgmma: products of four warps with operands in shared memory, which a wait completes.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/exec/matrix/product.hpp"

namespace halfwarp::emulator::exec {

struct function_code;

// Multiplies a tile. Returns false if the general path must.
using fast_multiply = bool (*)(const matrix_site&, const product_sources&, product_results&);

// A product that a warp started and that no wait has completed. Its operands were read from
// registers, except the matrices themselves.
struct warp_product {
  const instruction* instr = nullptr;
  const function_code* function = nullptr;
  std::byte* registers = nullptr;  // of the frame
  fast_multiply fast = nullptr;
  std::uint64_t a_descriptor = 0, b_descriptor = 0;
  bool adds_c = false;
  std::uint32_t group = 0;
};
struct warp_products {
  std::vector<warp_product> pending;  // in the order of the text
  std::uint32_t group = 0;            // the open group
};

// Multiplies at once, or with the option copies_are_late at the wait. `fast` may be null.
void start_warpgroup_product(warp& w, const instruction& instr, fast_multiply fast);
void run_warpgroup_product(warp& w, const instruction& instr);
void run_commit_products(warp& w, const instruction& instr);
// The immediate is the number of groups that may be pending.
void run_wait_products(warp& w, const instruction& instr);

// Returns the offsets of the units of 16 bytes of shared memory that a product reads.
std::vector<std::uint64_t> warpgroup_units(warp& w, const instruction& instr);

}  // namespace halfwarp::emulator::exec
