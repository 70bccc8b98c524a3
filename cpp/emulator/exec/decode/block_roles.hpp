// SPDX-License-Identifier: Apache-2.0
// Finds kernels whose blocks all execute the same instructions, unless a block index decides.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/exec/code.hpp"
#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::exec {

// Roles of an instruction in a transcript of a block, see schedule/transcript.hpp.
namespace block_role {
inline constexpr std::uint8_t computes = 1;    // its only effect is a result
inline constexpr std::uint8_t is_steady = 2;   // accesses the same address in all blocks
inline constexpr std::uint8_t is_checked = 4;  // its guard depends on the block index
}  // namespace block_role

// Returns the roles of the PTX instructions of a kernel. The list is empty if memory decides which
// instructions a block executes, or if an instruction fits no transcript.
std::vector<std::uint8_t> find_block_roles(const ptx::module& owner, const ptx::function& f,
                                           bool parameters_in_frame);

}  // namespace halfwarp::emulator::exec
