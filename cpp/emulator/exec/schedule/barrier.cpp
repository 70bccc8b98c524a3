// SPDX-License-Identifier: Apache-2.0
// Arrival at barriers, their opening, and the reductions among their threads.
//
// The aligned form is for whole warps: lanes that come first wait until the rest of their warp has
// reached the same instruction, then arrive with it.
#include "emulator/exec/schedule/barrier.hpp"

#include "emulator/exec/access.hpp"
#include "emulator/exec/schedule/collective.hpp"
#include "emulator/exec/schedule/frame.hpp"
#include "emulator/exec/schedule/interpret.hpp"

namespace halfwarp::emulator::exec {
namespace {

const instruction& instruction_of(const warp_split& f) { return f.in->function->code[f.next]; }

void deliver_reduction(warp_state& w, const warp_split& f, const barrier_state& barrier) {
  const instruction& in = instruction_of(f);
  auto operation = static_cast<barrier_operation>(in.immediate);
  activate(w.view, *f.in);
  if (operation == barrier_operation::red_popc) {
    auto* result = w.view.at<std::uint32_t>(in.operand[0]);
    for (lane_mask rest = f.lanes; rest; rest &= rest - 1) {
      result[__builtin_ctz(rest)] = barrier.count;
    }
  } else {
    lane_mask value = operation == barrier_operation::red_and ? barrier.all : barrier.any;
    lane_mask& p = w.view.predicates[in.operand[0]];
    p = (p & ~f.lanes) | (value & f.lanes);
  }
}

void open_if_complete(block_state& block, std::uint32_t id) {
  barrier_state& barrier = block.barriers[id];
  std::uint32_t expected = barrier.expected ? barrier.expected : block.live_threads;
  if (barrier.arrived == 0 || barrier.arrived < expected) return;
  barrier_state opened = barrier;
  barrier = {};
  for (warp_state& w : block.warps) {
    for (std::size_t i = 0; i < w.splits.size();) {
      warp_split& f = w.splits[i];
      if (f.state != split_state::at_barrier || f.barrier != id) {
        ++i;
        continue;
      }
      if (opened.is_reduction) deliver_reduction(w, f, opened);
      ++f.next;
      i += !make_ready(w, i);
    }
  }
}

void reduce(warp_state& w, const warp_split& f, const instruction& in, barrier_state& barrier) {
  if (static_cast<barrier_operation>(in.immediate) < barrier_operation::red_popc) return;
  barrier.is_reduction = true;
  lane_mask source = w.view.predicates[in.operand[1]];
  if (in.flags & barrier_flag::negated_source) source = ~source;
  barrier.count += lanes_in(source & f.lanes);
  if (source & f.lanes) barrier.any = all_lanes;
  if (~source & f.lanes) barrier.all = 0;
}

std::uint32_t value_of(warp_state& w, const warp_split& f, operand_slot slot) {
  return w.view.at<std::uint32_t>(slot)[__builtin_ctz(f.lanes)];
}

[[noreturn]] void raise_no_such_barrier(const warp& view, const warp_split& f,
                                        const instruction& in) {
  report::fault fault = describe_place(view, in, __builtin_ctz(f.lanes));
  fault.kind = report::fault_kind::divergent_barrier;
  fault.detail = "there is no barrier " + std::to_string(f.barrier);
  fault.hint = "barrier numbers are 0 to 15";
  throw kernel_fault{fault};
}

// The frame of the split is active.
void arrive_together(warp_state& w, std::size_t index, const instruction& in) {
  warp_split& f = w.splits[index];
  block_state& block = *w.view.block;
  std::uint32_t id = f.barrier = value_of(w, f, in.operand[2]);
  if (id >= barrier_count) raise_no_such_barrier(w.view, f, in);
  barrier_state& barrier = block.barriers[id];
  bool has_count = in.flags & barrier_flag::has_count;
  if (has_count) barrier.expected = value_of(w, f, in.operand[3]);
  // A count is in whole warps, for the aligned form also of warps with fewer threads.
  bool counts_warps = has_count && (in.flags & barrier_flag::aligned);
  barrier.arrived += counts_warps ? warp_size : lanes_in(f.lanes);
  reduce(w, f, in, barrier);
  if (static_cast<barrier_operation>(in.immediate) == barrier_operation::arrive) {
    ++f.next;
    make_ready(w, index);
  } else {
    f.state = split_state::at_barrier;
  }
  open_if_complete(block, id);
}

// Joins the lanes that wait at the same instruction in the same frame.
void wait_for_warp(warp_state& w, std::size_t index) {
  warp_split& f = w.splits[index];
  f.state = split_state::before_aligned;
  for (std::size_t i = 0; i < w.splits.size(); ++i) {
    warp_split& other = w.splits[i];
    bool is_same = i != index && other.state == split_state::before_aligned &&
                   other.next == f.next && other.in == f.in;
    if (!is_same) continue;
    other.lanes |= f.lanes;
    frame* left = f.in;
    w.splits.remove(index);
    return drop_frame(w, left);
  }
}

void arrive_if_whole(warp_state& w) {
  for (std::size_t i = 0; i < w.splits.size(); ++i) {
    const warp_split& f = w.splits[i];
    if (f.state != split_state::before_aligned || f.lanes != w.view.live) continue;
    return arrive_in_part(w, i);
  }
}

}  // namespace

void arrive(warp_state& w, std::size_t index, const instruction& in) {
  bool is_whole = !(in.flags & barrier_flag::aligned) || w.splits[index].lanes == w.view.live;
  if (is_whole) return arrive_together(w, index, in);
  wait_for_warp(w, index);
  arrive_if_whole(w);
}

void arrive_in_part(warp_state& w, std::size_t index) {
  const warp_split& f = w.splits[index];
  activate(w.view, *f.in);
  arrive_together(w, index, instruction_of(f));
}

void threads_exited(warp_state& w) {
  check_members(w);
  arrive_if_whole(w);
  block_state& block = *w.view.block;
  for (std::uint32_t id = 0; id < barrier_count; ++id) {
    if (block.barriers[id].arrived && !block.barriers[id].expected) open_if_complete(block, id);
  }
}

}  // namespace halfwarp::emulator::exec
