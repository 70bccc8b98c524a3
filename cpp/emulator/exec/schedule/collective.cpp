// SPDX-License-Identifier: Apache-2.0
// Gathering the members of collective instructions from the splits of a warp.
#include "emulator/exec/schedule/collective.hpp"

#include "emulator/exec/access.hpp"
#include "emulator/exec/schedule/frame.hpp"
#include "emulator/exec/schedule/interpret.hpp"

namespace halfwarp::emulator::exec {
namespace {

[[noreturn]] void raise_member_fault(const warp& view, const instruction& in, int lane,
                                     std::string detail, std::string hint) {
  report::fault f = describe_place(view, in, lane);
  f.kind = report::fault_kind::member_mask;
  f.detail = std::move(detail);
  f.hint = std::move(hint);
  throw kernel_fault{f};
}

// Lanes of `lanes` with the same mask as the lowest of them. Lanes that have exited, or that the
// block has no thread for, need not come.
struct member_group {
  lane_mask lanes = 0, required = 0;
};

member_group first_group(warp& view, const instruction& in, lane_mask lanes) {
  const std::uint32_t* members = view.at<std::uint32_t>(in.operand[4]);
  int first = __builtin_ctz(lanes);
  member_group group{lanes, members[first] & view.live};
  for (lane_mask rest = lanes; rest; rest &= rest - 1) {
    int lane = __builtin_ctz(rest);
    if (members[lane] != members[first]) group.lanes &= ~(1u << lane);
  }
  if (!view.block->launch->options.check_sync) {
    group.required |= group.lanes;
    return group;
  }
  if (lane_mask strangers = group.lanes & ~members[first]) {
    raise_member_fault(
        view, in, __builtin_ctz(strangers),
        "the thread is not in the mask " + report::hexadecimal(members[first]) + " that it names",
        "compute the mask before the branch, from all threads that take part");
  }
  return group;
}

// The group is complete: its waiting splits execute, and go on.
void run_waiting(warp_state& w, std::vector<warp_split> together) {
  auto run_step = [&](exchange_step step) {
    w.view.step = step;
    for (const warp_split& f : together) {
      activate(w.view, *f.in);
      w.view.active = f.lanes;
      w.view.participants = f.members;
      const instruction& in = f.in->function->code[f.next];
      in.run(w.view, in);
    }
  };
  if (together.size() == 1) {
    run_step(exchange_step::give_and_take);
  } else {
    run_step(exchange_step::give);
    run_step(exchange_step::take);
    w.view.step = exchange_step::give_and_take;
  }
  for (warp_split& f : together) {
    ++f.next;
    add_ready(w, f);
  }
}

bool waits_with(const warp_split& f, lane_mask required, handler run) {
  return f.state == split_state::at_collective && f.members == required &&
         f.in->function->code[f.next].run == run;
}

void run_if_complete(warp_state& w, lane_mask required, handler run) {
  lane_mask present = 0;
  for (const warp_split& f : w.splits) {
    if (waits_with(f, required, run)) present |= f.lanes;
  }
  if (present == 0 || present != required) return;
  std::vector<warp_split> together;
  for (std::size_t i = 0; i < w.splits.size();) {
    if (waits_with(w.splits[i], required, run)) {
      together.push_back(w.splits.take(i));
    } else {
      ++i;
    }
  }
  run_waiting(w, std::move(together));
}

}  // namespace

bool run_together(warp_state& w, const instruction& in, lane_mask lanes) {
  warp& view = w.view;
  member_group whole = first_group(view, in, lanes);
  if (whole.lanes == lanes) {
    if (whole.required != lanes) return false;
    view.active = view.participants = lanes;
    in.run(view, in);
    return true;
  }
  for (lane_mask rest = lanes; rest;) {
    member_group group = first_group(view, in, rest);
    if (group.required != group.lanes) return false;
    rest &= ~group.lanes;
  }
  // A result register may hold the masks: find the groups before the first one executes.
  std::vector<lane_mask> groups;
  for (lane_mask rest = lanes; rest; rest &= ~groups.back()) {
    groups.push_back(first_group(view, in, rest).lanes);
  }
  for (lane_mask group : groups) {
    view.active = view.participants = group;
    in.run(view, in);
  }
  return true;
}

void join_collective(warp_state& w, std::size_t index, const instruction& in) {
  warp_split f = w.splits.take(index);
  std::vector<warp_split> parts;
  for (lane_mask rest = f.lanes; rest; rest &= ~parts.back().lanes) {
    member_group group = first_group(w.view, in, rest);
    warp_split part = f;
    part.lanes = group.lanes;
    part.members = group.required;
    part.state = split_state::at_collective;
    parts.push_back(part);
  }
  f.in->users += static_cast<std::uint32_t>(parts.size()) - 1;
  for (const warp_split& part : parts) w.splits.add(part);
  for (const warp_split& part : parts) run_if_complete(w, part.members, in.run);
}

void check_members(warp_state& w) {
  std::vector<warp_split> waiting;
  for (warp_split& f : w.splits) {
    if (f.state != split_state::at_collective) continue;
    f.members &= w.view.live;
    waiting.push_back(f);
  }
  for (const warp_split& f : waiting) {
    run_if_complete(w, f.members, f.in->function->code[f.next].run);
  }
}

}  // namespace halfwarp::emulator::exec
