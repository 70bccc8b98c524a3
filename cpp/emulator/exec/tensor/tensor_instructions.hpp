// SPDX-License-Identifier: Apache-2.0
// Handlers of tcgen05. The target of an instruction is its index in function_code::tensors.
#pragma once

#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/tensor/tensor_site.hpp"

namespace halfwarp::emulator::exec {

const tensor_site& tensor_of(const warp& w, const instruction& instr) noexcept;

// Operands: offset in shared memory, or address in tensor memory; number of columns.
void run_allocate_tensor(warp& w, const instruction& instr);
void run_release_tensor(warp& w, const instruction& instr);
void run_relinquish_tensor(warp& w, const instruction& instr);
void run_load_tensor(warp& w, const instruction& instr);
void run_store_tensor(warp& w, const instruction& instr);
// The flags are a tensor_use.
void run_wait_tensor(warp& w, const instruction& instr);
void run_copy_to_tensor(warp& w, const instruction& instr);
void run_shift_tensor(warp& w, const instruction& instr);
void run_commit_tensor(warp& w, const instruction& instr);

// Throws kernel_fault unless a block that ends has released its tensor memory.
void require_released_tensors(const block_state& block);

// ---- parts of the handlers

inline constexpr std::uint32_t no_warp = 0xffff'ffffu;

[[noreturn]] void raise_tensor_fault(warp& w, const instruction& instr, int lane,
                                     std::string detail, std::string hint);
// Returns the memory of a block; raises a fault before the first allocation.
tensor_memory& tensors_of(warp& w, const instruction& instr, int lane, block_state& block);
// Raises a fault if the range breaks a rule. Accesses of the warp `own` may be unfinished.
void require_range(warp& w, const instruction& instr, int lane, block_state& block,
                   const tensor_range& range, std::initializer_list<tensor_use> meets,
                   std::uint32_t own = no_warp);
// Returns the blocks of an instruction: the own, or the pair of the own and its neighbor.
std::vector<block_state*> blocks_of(warp& w, const instruction& instr, int lane);
// Starts work on ranges of the blocks. The range of each block is the same.
void start_tensor_work(warp& w, int lane, const std::vector<block_state*>& blocks,
                       const tensor_range& range, std::function<void()> run);

}  // namespace halfwarp::emulator::exec
