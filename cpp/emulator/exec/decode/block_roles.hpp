// SPDX-License-Identifier: Apache-2.0
// Finds kernels whose blocks all execute the same instructions, unless a block index decides.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "emulator/exec/code.hpp"
#include "emulator/ptx/analysis.hpp"

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

// Facts about the code of a kernel for transcripts. All launches of the kernel share them.
class code_effects {
 public:
  // The registers of a PTX instruction. `reads` has no guard.
  struct effect {
    ptx::register_access registers;
    bool writes_all = true;  // bits
    bool is_shared = false;  // accesses shared memory
  };

  code_effects();
  // Finds the effects if no other launch did.
  void find(const ptx::module& owner, const function_code& function);
  const effect& of(const instruction& instr) const { return effects_[instr.source]; }
  // Returns the tuned instruction at an index, without fusion.
  const instruction& shaped(std::uint32_t index) const { return shaped_[index]; }

  const struct {
    handler load, store, load_known, load_equal, store_known, fma, fma_known, add, add_known;
  } handlers;

 private:
  std::once_flag is_complete_;
  std::vector<effect> effects_;  // by PTX instruction
  std::vector<instruction> shaped_;
};

}  // namespace halfwarp::emulator::exec
