// SPDX-License-Identifier: Apache-2.0
// cp, shift and commit: work of the tensor cores that one thread starts.
#include <cstring>

#include "emulator/exec/async/async.hpp"
#include "emulator/exec/check/race_checker.hpp"
#include "emulator/exec/each_lane.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "emulator/exec/tensor/tensor_descriptor.hpp"
#include "emulator/exec/tensor/tensor_instructions.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr int words_per_unit = 4;
constexpr int shifted_columns = 8;
constexpr int pieces = tensor_lanes / lanes_of_warp;

tensor_issuer issuer_of(const warp& w, int lane) {
  return {w.block->rank, w.index * warp_size + static_cast<std::uint32_t>(lane)};
}

// The rows that a quarter of the lanes receives, as the number of the first row divided by 32.
int source_piece(tensor_rows rows, int piece) {
  switch (rows) {
    case tensor_rows::all_128:
      return piece;
    case tensor_rows::pairs_02_13:
      return piece & 1;
    case tensor_rows::pairs_01_23:
      return piece >> 1;
    case tensor_rows::each_32:
      break;
  }
  return 0;
}

// Copies eight rows of a unit. Returns false at bytes outside of the shared memory.
bool copy_rows(const tensor_site& site, shared_operand& matrix, block_state& block,
               tensor_address to, int row, int unit) {
  std::uint32_t words[warp_size];
  const shared_view memory{block.shared.data(), block.launch->shared_bytes};
  if (!matrix.read(memory, row, 16 * unit, words)) return false;
  for (int n = 0; n < 8; ++n) {
    if (site.element_bits < 8) {
      expand_unit(reinterpret_cast<std::uint8_t*>(words + 4 * n), site.element_bits,
                  site.element_bits == 4 ? 2 : 1);
    }
    std::memcpy(&block.tensors->at(to.lane + n, to.column), words + 4 * n, 16);
  }
  return true;
}

bool copy_matrix(const tensor_site& site, const operand_layout& layout, block_state& block,
                 tensor_address at) {
  shared_operand matrix{layout};
  for (int piece = 0; piece < pieces; ++piece) {
    for (int row = 0; row < lanes_of_warp; row += 8) {
      for (int unit = 0; unit < site.units; ++unit) {
        const tensor_address to{lanes_of_warp * piece + row, at.column + words_per_unit * unit};
        const int from = lanes_of_warp * source_piece(site.rows, piece) + row;
        if (!copy_rows(site, matrix, block, to, from, unit)) return false;
      }
    }
  }
  return true;
}

// Returns whether all bytes of the matrix are inside of the shared memory.
bool is_inside(const tensor_site& site, const operand_layout& layout, const block_state& block) {
  shared_operand matrix{layout};
  std::uint32_t words[warp_size];
  const shared_view memory{block.shared.data(), block.launch->shared_bytes};
  for (int piece = 0; piece < pieces; ++piece) {
    const int first = lanes_of_warp * source_piece(site.rows, piece);
    for (int row = first; row < first + lanes_of_warp; row += 8) {
      for (int unit = 0; unit < site.units; ++unit) {
        if (!matrix.read(memory, row, 16 * unit, words)) return false;
      }
    }
  }
  return true;
}

void start_copy(warp& w, const instruction& instr, int lane) {
  const tensor_site& site = tensor_of(w, instr);
  const auto at = tensor_address::from(w.at<std::uint32_t>(site.address)[lane]);
  const std::uint64_t descriptor = w.at<std::uint64_t>(site.b)[lane];
  if (std::string problem = layout_problem(descriptor, false); !problem.empty()) {
    raise_tensor_fault(w, instr, lane, "the descriptor of the matrix is invalid: " + problem,
                       "build it as the PTX manual states for tcgen05");
  }
  const operand_layout layout = tensor_layout(descriptor, 8, false);
  const tensor_range range{0, tensor_lanes, at.column, words_per_unit * site.units};
  const auto blocks = blocks_of(w, instr, lane);
  for (block_state* block : blocks) {
    require_range(w, instr, lane, *block, range, {tensor_use::load, tensor_use::store});
    if (is_inside(site, layout, *block)) continue;
    raise_tensor_fault(w, instr, lane, "the matrix exceeds the shared memory of the block",
                       "compare the start and the strides of the descriptor with its size");
  }
  start_tensor_work(w, lane, blocks, range, [&site, layout, blocks, at] {
    for (block_state* block : blocks) copy_matrix(site, layout, *block, at);
  });
}

// Moves 8 columns of the rows but the last one lane up in number.
void shift_rows(tensor_memory& memory, tensor_address at) {
  for (int lane = at.lane + lanes_of_warp - 1; lane > at.lane; --lane) {
    for (int n = 0; n < shifted_columns; ++n) {
      memory.at(lane, at.column + n) = memory.at(lane - 1, at.column + n);
    }
  }
}

void start_shift(warp& w, const instruction& instr, int lane) {
  const tensor_site& site = tensor_of(w, instr);
  const auto at = tensor_address::from(w.at<std::uint32_t>(site.address)[lane]);
  if (at.lane % lanes_of_warp) {
    raise_tensor_fault(w, instr, lane, "the lane of the address is no multiple of 32",
                       "shift the rows of one quarter of the lanes");
  }
  const tensor_range range{at.lane, lanes_of_warp, at.column, shifted_columns};
  const auto blocks = blocks_of(w, instr, lane);
  for (block_state* block : blocks) {
    require_range(w, instr, lane, *block, range, {tensor_use::load, tensor_use::store});
  }
  start_tensor_work(w, lane, blocks, range, [blocks, at] {
    for (block_state* block : blocks) shift_rows(*block->tensors, at);
  });
}

// Returns the barriers that a commit signals: the operand, or the same barrier of several blocks.
std::vector<std::byte*> barriers_of(warp& w, const instruction& instr, int lane) {
  const tensor_site& site = tensor_of(w, instr);
  constexpr std::uint32_t barrier_bytes = 8;
  const std::uint64_t own = w.at<std::uint64_t>(site.barrier)[lane];
  std::vector<std::uint64_t> offsets{own};
  if (site.has_mask) {
    offsets.clear();
    const std::uint32_t mask = w.at<std::uint16_t>(site.mask)[lane];
    for (std::uint64_t rank = 0; rank < 16; ++rank) {
      const std::uint64_t window = (rank + 1) << cluster_rank_shift;
      if (mask >> rank & 1) offsets.push_back(window | (own & (block_window_bytes - 1)));
    }
  }
  std::vector<std::byte*> barriers;
  for (std::uint64_t offset : offsets) {
    std::byte* const barrier =
        offset % barrier_bytes ? nullptr : shared_bytes_at(w, offset, barrier_bytes);
    if (!barrier) {
      raise_tensor_fault(w, instr, lane, "the mbarrier is not aligned, or outside of shared memory",
                         "pass the address of an mbarrier of a block of the cluster");
    }
    barriers.push_back(barrier);
  }
  return barriers;
}

void start_commit(warp& w, const instruction& instr, int lane) {
  const auto barriers = barriers_of(w, instr, lane);
  if (auto* const races = w.block->launch->races) {
    for (const std::byte* each : barriers) {
      races->signal_copy(w, static_cast<std::uint32_t>(lane), each);
    }
  }
  tensor_work work;
  work.issuer = issuer_of(w, lane);
  work.barriers = barriers;
  work.run = [barriers] {
    for (std::byte* each : barriers) complete_arrival(each);
  };
  w.block->cluster->tensor_cores.add(std::move(work), w.block->launch->options.copies_are_late);
}

}  // namespace

std::vector<block_state*> blocks_of(warp& w, const instruction& instr, int lane) {
  if (!tensor_of(w, instr).is_pair) return {w.block};
  const auto& blocks = w.block->cluster->blocks;
  const std::size_t first = w.block->rank & ~1u;
  if (first + 1 < blocks.size() && blocks[first] && blocks[first + 1]) {
    return {blocks[first], blocks[first + 1]};
  }
  raise_tensor_fault(w, instr, lane, "the block has no running neighbor for .cta_group::2",
                     "launch clusters of an even number of blocks, and end both together");
}

void start_tensor_work(warp& w, int lane, const std::vector<block_state*>& blocks,
                       const tensor_range& range, std::function<void()> run) {
  tensor_work work;
  work.issuer = issuer_of(w, lane);
  work.run = std::move(run);
  const tensor_issuer issuer = work.issuer;
  const std::uint64_t serial =
      w.block->cluster->tensor_cores.add(std::move(work), w.block->launch->options.copies_are_late);
  for (block_state* block : blocks) block->tensors->start_work(range, issuer, serial);
}

void run_copy_to_tensor(warp& w, const instruction& instr) {
  for_each_lane(w.active, [&](int lane) { start_copy(w, instr, lane); });
}

void run_shift_tensor(warp& w, const instruction& instr) {
  for_each_lane(w.active, [&](int lane) { start_shift(w, instr, lane); });
}

void run_commit_tensor(warp& w, const instruction& instr) {
  for_each_lane(w.active, [&](int lane) { start_commit(w, instr, lane); });
}

}  // namespace halfwarp::emulator::exec
