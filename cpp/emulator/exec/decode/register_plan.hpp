// SPDX-License-Identifier: Apache-2.0
// Analyzes the registers of a function before it is decoded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::exec {

// The numbers of instructions that write and read each register of a function, and its last writer.
struct register_uses {
  std::vector<std::uint32_t> writes, reads, writer;
  register_uses(const ptx::module& owner, const ptx::function& f);
};

// Checks that an opcode has no side effect, and a result that depends on its operands only.
bool is_pure(ptx::opcode name);
// Checks that a special register has one value per thread index in all blocks of a launch.
bool is_fixed_register(ptx::special_register name);
// Checks for a load of a parameter. Results of calls are in the space of parameters too.
bool loads_parameter(const ptx::function& f, const ptx::instruction& i);

// Finds the PTX instructions of a kernel whose results are the same in all blocks of a launch: they
// have no side effect, and each register that they read or write is written once.
std::vector<bool> find_fixed(const ptx::module& owner, const ptx::function& f,
                             const register_uses& uses, bool parameters_in_frame);

// Lets registers that are used in one basic block share places, so that more of the warps'
// registers stay in the cache. Returns the place of each such register, and -1 for others, and
// adds the places to `bytes`.
std::vector<std::int64_t> share_slots(const ptx::module& owner, const ptx::function& f,
                                      const register_uses& uses, const std::vector<bool>& fixed,
                                      std::uint32_t& bytes);

}  // namespace halfwarp::emulator::exec
