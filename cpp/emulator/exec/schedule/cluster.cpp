// SPDX-License-Identifier: Apache-2.0
// The barrier of a cluster has two halves: a thread arrives, and later waits for the phase.
#include "emulator/exec/schedule/cluster.hpp"

#include <algorithm>
#include <functional>

#include "emulator/exec/access.hpp"
#include "emulator/exec/check/barrier_checker.hpp"
#include "emulator/exec/check/race_checker.hpp"
#include "emulator/exec/schedule/barrier.hpp"
#include "emulator/exec/schedule/warp/interpret.hpp"

namespace halfwarp::emulator::exec {
namespace {

std::uint32_t live_threads(const cluster_state& cluster) {
  std::uint32_t count = 0;
  for (const block_state* block : cluster.blocks) count += block ? block->live_threads : 0;
  return count;
}

// Makes the splits ready that wait for lanes whose phase is complete.
void release_waiting(warp_state& w) {
  for (std::size_t i = 0; i < w.splits.size();) {
    warp_split& f = w.splits[i];
    if (f.state != split_state::at_cluster || (f.lanes & ~w.cluster_passed)) {
      ++i;
      continue;
    }
    w.cluster_passed &= ~f.lanes;
    if (auto* races = w.view.block->launch->races) races->leave_cluster(w.view);
    ++f.next;
    i += !make_ready(w, i);
  }
}

const launch_state& launch_of(const cluster_state& cluster) {
  return *(*std::ranges::find_if(cluster.blocks, std::identity{}))->launch;
}

void open_if_complete(cluster_state& cluster) {
  if (cluster.arrived == 0 || cluster.arrived < live_threads(cluster)) return;
  cluster.arrived = 0;
  if (auto* barriers = launch_of(cluster).barriers) barriers->open(cluster);
  for (block_state* block : cluster.blocks) {
    if (!block) continue;
    for (warp_state& w : block->warps) {
      w.cluster_passed |= w.cluster_arrived;
      w.cluster_arrived = 0;
      release_waiting(w);
    }
  }
}

[[noreturn]] void raise(warp_state& w, const instruction& instr, lane_mask lanes,
                        std::string detail) {
  report::fault fault = describe_fault(w.view, instr, __builtin_ctz(lanes));
  fault.kind = report::fault_kind::divergent_barrier;
  fault.other_threads = lanes_in(lanes) - 1;
  fault.detail = std::move(detail);
  fault.hint = "each thread executes arrive and wait in turn";
  throw kernel_fault{fault};
}

void wait(warp_state& w, std::size_t index, const instruction& instr) {
  warp_split& f = w.splits[index];
  if (const lane_mask early = f.lanes & ~(w.cluster_arrived | w.cluster_passed)) {
    raise(w, instr, early, "a wait for the barrier of the cluster without an arrival before");
  }
  // Lanes of an earlier phase continue without the others, which may wait for their next arrival.
  const lane_mask passed = f.lanes & w.cluster_passed;
  if (passed && passed != f.lanes) {
    warp_split other = f;
    other.lanes = f.lanes & ~passed;
    other.state = split_state::at_cluster;
    ++f.top_frame->users;
    f.lanes = passed;
    w.splits.add(other);
  }
  w.splits[index].state = split_state::at_cluster;
  release_waiting(w);
}

}  // namespace

bool cluster_state::is_stuck() const {
  return std::ranges::none_of(blocks, [](const block_state* block) {
    return block && std::ranges::any_of(block->warps, [](const warp_state& w) {
             return std::any_of(w.splits.begin(), w.splits.end(),
                                [](const warp_split& f) { return f.state == split_state::ready; });
           });
  });
}

block_state* block_at(const block_state& own, std::uint64_t& offset) {
  const std::uint64_t rank = offset >> cluster_rank_shift;
  if (rank == 0) return own.cluster->blocks[own.rank];
  offset &= block_window_bytes - 1;
  return rank <= own.cluster->blocks.size() ? own.cluster->blocks[rank - 1] : nullptr;
}

std::byte* shared_bytes_at(const warp& w, std::uint64_t offset, std::uint64_t bytes) {
  block_state* const block = block_at(*w.block, offset);
  const bool fits = block && offset <= w.shared_bytes && w.shared_bytes - offset >= bytes;
  return fits ? block->shared.data() + offset : nullptr;
}

std::string describe_shared(const warp& w, std::uint64_t offset) {
  const std::uint64_t rank = offset >> cluster_rank_shift;
  const std::size_t blocks = w.block->cluster->blocks.size();
  if (rank > blocks) {
    return "the address names block " + std::to_string(rank - 1) + " of a cluster of " +
           std::to_string(blocks);
  }
  if (block_at(*w.block, offset)) {
    return "the block has " + std::to_string(w.shared_bytes) + " bytes of shared memory";
  }
  return "block " + std::to_string(rank - 1) + " of the cluster has ended";
}

void arrive_at_cluster(warp_state& w, std::size_t index, const instruction& instr) {
  if (static_cast<barrier_operation>(instr.immediate) == barrier_operation::cluster_wait) {
    return wait(w, index, instr);
  }
  warp_split& f = w.splits[index];
  if (const lane_mask repeated = f.lanes & (w.cluster_arrived | w.cluster_passed)) {
    raise(w, instr, repeated, "a second arrival at the barrier of the cluster without a wait");
  }
  cluster_state& cluster = *w.view.block->cluster;
  if (auto* races = w.view.block->launch->races) races->arrive_at_cluster(w.view, instr, f.lanes);
  if (auto* barriers = w.view.block->launch->barriers) {
    barriers->arrive_at_cluster(w.view, instr, f.lanes);
  }
  w.cluster_arrived |= f.lanes;
  cluster.arrived += lanes_in(f.lanes);
  ++f.next;
  make_ready(w, index);
  open_if_complete(cluster);
}

void leave_cluster(warp_state& w, lane_mask lanes) {
  cluster_state& cluster = *w.view.block->cluster;
  if (auto* barriers = w.view.block->launch->barriers) {
    barriers->leave(w.view, lanes & ~w.cluster_arrived);
  }
  cluster.arrived -= lanes_in(lanes & w.cluster_arrived);
  w.cluster_arrived &= ~lanes;
  w.cluster_passed &= ~lanes;
  open_if_complete(cluster);
}

void run_mapa(warp& w, const instruction& instr) {
  auto* results = w.at<std::uint64_t>(instr.operand[0]);
  const auto* ranks = w.at<std::uint32_t>(instr.operand[1]);
  const auto* offsets = w.at<std::uint64_t>(instr.operand[4]);
  const std::size_t blocks = w.block->cluster->blocks.size();
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    if (ranks[lane] >= blocks) {
      report::fault f = describe_fault(w, instr, lane);
      f.kind = report::fault_kind::out_of_bounds;
      f.detail = "rank " + std::to_string(ranks[lane]) + " in a cluster of " +
                 std::to_string(blocks) + " blocks";
      f.hint = "compare the rank with %cluster_nctarank, and launch with a cluster dimension";
      throw kernel_fault{f};
    }
    // Instructions for shared memory of the own block accept an address without a rank alone.
    const std::uint64_t rank = ranks[lane] == w.block->rank ? 0 : std::uint64_t{ranks[lane]} + 1;
    results[lane] = rank << cluster_rank_shift | (offsets[lane] & (block_window_bytes - 1));
  }
}

void run_getctarank(warp& w, const instruction& instr) {
  auto* results = w.at<std::uint32_t>(instr.operand[0]);
  const auto* offsets = w.at<std::uint64_t>(instr.operand[4]);
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    const auto rank = static_cast<std::uint32_t>(offsets[lane] >> cluster_rank_shift);
    results[lane] = rank == 0 ? w.block->rank : rank - 1;
  }
}

}  // namespace halfwarp::emulator::exec
