// SPDX-License-Identifier: Apache-2.0
// Facts about a parsed function: basic blocks, what reads and writes a register, register demand.
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
  std::vector<basic_block> blocks;      // in the order of the text; none is empty
  std::vector<std::uint32_t> block_of;  // of each instruction

  bool is_leader(std::uint32_t instruction) const noexcept {
    return blocks[block_of[instruction]].first == instruction;
  }
};

// A block starts at the entry, at a label that some instruction names, and after an instruction
// that may leave the straight line (bra, brx, ret, exit, trap).
control_flow find_blocks(const function& f);

struct register_access {
  std::vector<std::uint32_t> reads, writes;  // function::registers; guard included in reads
};

// Clears and fills `access`.
void find_register_access(const module& owner, const function& f, const instruction& i,
                          register_access& access);

// Functions that f calls directly or whose address it takes, each once, ascending.
std::vector<std::uint32_t> called_functions(const function& f);

// 32-bit registers that a thread needs where most values are live, functions that are called
// included; at least 16, rounded up to 8, at most 255 or .maxnreg. One number per function of the
// module; of a declaration the least.
std::vector<std::uint32_t> estimate_registers(const module& m);

}  // namespace halfwarp::emulator::ptx
