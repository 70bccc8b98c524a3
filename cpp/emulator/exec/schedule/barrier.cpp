// SPDX-License-Identifier: Apache-2.0
// Arrival at barriers, release of the waiting threads, and results of barrier reductions.
//
// The aligned form needs whole warps. The first lanes wait until the other lanes of their warp
// reach the same instruction. Then all lanes arrive together.
#include "emulator/exec/schedule/barrier.hpp"

#include "emulator/exec/access.hpp"
#include "emulator/exec/check/barrier_checker.hpp"
#include "emulator/exec/check/race_checker.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "emulator/exec/schedule/warp/collective.hpp"
#include "emulator/exec/schedule/warp/frame.hpp"
#include "emulator/exec/schedule/warp/interpret.hpp"

namespace halfwarp::emulator::exec {
namespace {

const instruction& next_instruction(const warp_split& f) {
  return f.top_frame->function->code[f.next];
}

void deliver_reduction(warp_state& w, const warp_split& f, const barrier_state& barrier) {
  const instruction& instr = next_instruction(f);
  auto operation = static_cast<barrier_operation>(instr.immediate);
  activate(w.view, *f.top_frame);
  if (operation == barrier_operation::red_popc) {
    auto* result = w.view.at<std::uint32_t>(instr.operand[0]);
    for (lane_mask remaining = f.lanes; remaining; remaining &= remaining - 1) {
      result[__builtin_ctz(remaining)] = barrier.count;
    }
  } else {
    lane_mask value = operation == barrier_operation::red_and ? barrier.all : barrier.any;
    lane_mask& p = w.view.predicates[instr.operand[0]];
    p = (p & ~f.lanes) | (value & f.lanes);
  }
}

void open_if_complete(block_state& block, std::uint32_t id) {
  barrier_state& barrier = block.barriers[id];
  std::uint32_t expected = barrier.expected ? barrier.expected : block.live_threads;
  if (barrier.arrived == 0 || barrier.arrived < expected) return;
  barrier_state opened = barrier;
  barrier = {};
  block.used_barriers &= ~(1u << id);
  if (block.launch->races) block.launch->races->open(block, id);
  // A thread that exited may have skipped the barrier.
  barrier_checker* const checker = opened.expected ? nullptr : block.launch->barriers;
  const bool is_judged = checker && checker->may_skip(block);
  const bool is_plain = !opened.is_reduction && !is_judged;
  for (warp_state& w : block.warps) {
    if (is_plain && w.splits.size() == 1) [[likely]] {
      warp_split& f = w.splits[0];
      if (f.state != split_state::at_barrier || f.barrier != id) continue;
      ++f.next;
      f.state = split_state::ready;
      continue;
    }
    for (std::size_t i = 0; i < w.splits.size();) {
      warp_split& f = w.splits[i];
      if (f.state != split_state::at_barrier || f.barrier != id) {
        ++i;
        continue;
      }
      if (is_judged) checker->open(block, f);
      if (opened.is_reduction) deliver_reduction(w, f, opened);
      ++f.next;
      i += !make_ready(w, i);
    }
  }
}

void reduce(warp_state& w, const warp_split& f, const instruction& instr, barrier_state& barrier) {
  if (static_cast<barrier_operation>(instr.immediate) < barrier_operation::red_popc) return;
  barrier.is_reduction = true;
  lane_mask source = w.view.predicates[instr.operand[1]];
  if (instr.flags & barrier_flag::negated_source) source = ~source;
  barrier.count += lanes_in(source & f.lanes);
  if (source & f.lanes) barrier.any = all_lanes;
  if (~source & f.lanes) barrier.all = 0;
}

std::uint32_t value_of(warp_state& w, const warp_split& f, operand_slot slot) {
  return w.view.at<std::uint32_t>(slot)[__builtin_ctz(f.lanes)];
}

[[noreturn]] void raise_invalid_barrier(const warp& view, const warp_split& f,
                                        const instruction& instr) {
  report::fault fault = describe_fault(view, instr, __builtin_ctz(f.lanes));
  fault.kind = report::fault_kind::divergent_barrier;
  fault.detail = "there is no barrier " + std::to_string(f.barrier);
  fault.hint = "barrier numbers are 0 to 15";
  throw kernel_fault{fault};
}

// Requires that the frame of the split is active.
void arrive_now(warp_state& w, std::size_t index, const instruction& instr) {
  if (static_cast<barrier_operation>(instr.immediate) >= barrier_operation::cluster_arrive) {
    return arrive_at_cluster(w, index, instr);
  }
  warp_split& f = w.splits[index];
  block_state& block = *w.view.block;
  std::uint32_t id = f.barrier = value_of(w, f, instr.operand[2]);
  if (id >= barrier_count) raise_invalid_barrier(w.view, f, instr);
  barrier_state& barrier = block.barriers[id];
  bool has_count = instr.flags & barrier_flag::has_count;
  if (auto* barriers = block.launch->barriers) {
    const std::uint32_t count = has_count ? value_of(w, f, instr.operand[3]) : 0;
    barriers->arrive(w.view, instr, f.lanes, count, barrier);
  }
  if (has_count) barrier.expected = value_of(w, f, instr.operand[3]);
  // The aligned form counts whole warps, even if a warp has fewer threads.
  bool counts_warps = has_count && (instr.flags & barrier_flag::aligned);
  barrier.arrived += counts_warps ? warp_size : lanes_in(f.lanes);
  block.used_barriers |= 1u << id;
  reduce(w, f, instr, barrier);
  const bool waits = static_cast<barrier_operation>(instr.immediate) != barrier_operation::arrive;
  if (block.launch->races) block.launch->races->arrive(w.view, id, f.lanes, waits);
  if (!waits) {
    ++f.next;
    make_ready(w, index);
  } else {
    f.state = split_state::at_barrier;
  }
  open_if_complete(block, id);
}

// Merges the split with lanes that wait at the same instruction in the same frame.
void wait_for_whole_warp(warp_state& w, std::size_t index) {
  warp_split& f = w.splits[index];
  f.state = split_state::before_aligned;
  for (std::size_t i = 0; i < w.splits.size(); ++i) {
    warp_split& other = w.splits[i];
    bool is_same = i != index && other.state == split_state::before_aligned &&
                   other.next == f.next && other.top_frame == f.top_frame;
    if (!is_same) continue;
    other.lanes |= f.lanes;
    frame* released = f.top_frame;
    w.splits.remove(index);
    return release_frame(w, released);
  }
}

void arrive_if_whole(warp_state& w) {
  for (std::size_t i = 0; i < w.splits.size(); ++i) {
    const warp_split& f = w.splits[i];
    if (f.state != split_state::before_aligned || f.lanes != w.view.live) continue;
    return arrive_without_warp(w, i);
  }
}

}  // namespace

void arrive(warp_state& w, std::size_t index, const instruction& instr) {
  bool is_whole = !(instr.flags & barrier_flag::aligned) || w.splits[index].lanes == w.view.live;
  if (is_whole) return arrive_now(w, index, instr);
  wait_for_whole_warp(w, index);
  arrive_if_whole(w);
}

bool arrive_together(warp_state& w, const instruction& instr) {
  warp_split& f = w.splits[0];
  block_state& block = *w.view.block;
  const std::uint32_t id = f.barrier = *w.view.at<std::uint32_t>(instr.operand[2]);
  if (id >= barrier_count) raise_invalid_barrier(w.view, f, instr);
  barrier_state& barrier = block.barriers[id];
  barrier.arrived += lanes_in(f.lanes);
  block.used_barriers |= 1u << id;
  f.state = split_state::at_barrier;
  if (barrier.arrived < (barrier.expected ? barrier.expected : block.live_threads)) return false;
  open_if_complete(block, id);
  return true;
}

void arrive_without_warp(warp_state& w, std::size_t index) {
  const warp_split& f = w.splits[index];
  activate(w.view, *f.top_frame);
  arrive_now(w, index, next_instruction(f));
}

void update_after_exit(warp_state& w, lane_mask lanes) {
  leave_cluster(w, lanes);
  check_members(w);
  arrive_if_whole(w);
  block_state& block = *w.view.block;
  for (std::uint32_t used = block.used_barriers; used; used &= used - 1) {
    const auto id = static_cast<std::uint32_t>(__builtin_ctz(used));
    if (!block.barriers[id].expected) open_if_complete(block, id);
  }
}

}  // namespace halfwarp::emulator::exec
