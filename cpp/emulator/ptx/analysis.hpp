// SPDX-License-Identifier: Apache-2.0
// Analyzes a parsed function: basic blocks, register accesses and register demand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::ptx {

struct basic_block {
  std::uint32_t first = 0, end = 0;       // instructions [first, end)
  std::vector<std::uint32_t> successors;  // indices of blocks, ascending
};

struct control_flow {
  std::vector<basic_block> blocks;      // in text order; none is empty
  std::vector<std::uint32_t> block_of;  // by instruction

  bool is_leader(std::uint32_t instruction) const noexcept {
    return blocks[block_of[instruction]].first == instruction;
  }
};

// Splits a function into basic blocks. A block starts at the entry, at a referenced label, and
// after an instruction that may branch or end the thread (bra, brx, ret, exit, trap).
control_flow find_blocks(const function& f);

struct register_access {
  std::vector<std::uint32_t> reads, writes;  // in function::registers; reads include the guard
};

// Replaces the contents of `access`.
void find_register_access(const module& owner, const function& f, const instruction& i,
                          register_access& access);

// Returns the functions that f calls directly or whose address it uses, unique and ascending.
std::vector<std::uint32_t> called_functions(const function& f);

// Estimates the 32-bit registers per thread for each function: the maximum of live values,
// including called functions. The result is at least 16, a multiple of 8, and at most 255 or
// .maxnreg. Declarations have the minimum.
std::vector<std::uint32_t> estimate_registers(const module& m);

}  // namespace halfwarp::emulator::ptx
