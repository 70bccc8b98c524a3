// SPDX-License-Identifier: Apache-2.0
// Blocks that run together: their barrier, and addresses in each other's shared memory.
#pragma once

#include "emulator/exec/async/bulk.hpp"
#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/tensor/tensor_work.hpp"

namespace halfwarp::emulator::exec {

struct cluster_state {
  std::vector<block_state*> blocks;  // by rank; null: ended
  std::uint32_t arrived = 0;         // live threads that arrived in this phase
  bool has_fault = false;
  bulk_queue copies;
  tensor_pipeline tensor_cores;

  bool is_stuck() const;  // no thread of a block can run
};

// A 32-bit address in shared::cluster: the offset in the memory of a block, and in the highest byte
// 1 plus the rank of the block. Without a rank, it is an address of the own block.
inline constexpr int cluster_rank_shift = 24;
inline constexpr std::uint64_t block_window_bytes = std::uint64_t{1} << cluster_rank_shift;

// Returns the block that an offset in the shared window names; null for none, and for one that has
// ended. Removes the rank from the offset.
block_state* block_at(const block_state& own, std::uint64_t& offset);
// Returns the bytes at an offset in the shared window; null if they are outside.
std::byte* shared_bytes_at(const warp& w, std::uint64_t offset, std::uint64_t bytes);
// Returns a phrase that says what an offset in the shared window names.
std::string describe_shared(const warp& w, std::uint64_t offset);

// Makes a split arrive or wait at the barrier of the cluster. Its frame must be active.
void arrive_at_cluster(warp_state& w, std::size_t index, const instruction& instr);
// Call after threads of a warp have exited.
void leave_cluster(warp_state& w, lane_mask lanes);

// mapa: operands result, rank, -, -, offset in the shared window. The result is such an offset.
void run_mapa(warp& w, const instruction& instr);
// getctarank: operands result, -, -, -, offset in the shared window.
void run_getctarank(warp& w, const instruction& instr);

}  // namespace halfwarp::emulator::exec
