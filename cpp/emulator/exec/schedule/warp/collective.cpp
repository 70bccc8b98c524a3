// SPDX-License-Identifier: Apache-2.0
// Collects the members of collective instructions from the splits of a warp.
#include "emulator/exec/schedule/warp/collective.hpp"

#include "emulator/exec/access.hpp"
#include "emulator/exec/check/barrier_checker.hpp"
#include "emulator/exec/check/init/init_checker.hpp"
#include "emulator/exec/check/race_checker.hpp"
#include "emulator/exec/schedule/warp/frame.hpp"
#include "emulator/exec/schedule/warp/interpret.hpp"

namespace halfwarp::emulator::exec {
namespace {

[[noreturn]] void raise_member_fault(const warp& view, const instruction& instr, int lane,
                                     std::string detail, std::string hint) {
  report::fault f = describe_fault(view, instr, lane);
  f.kind = report::fault_kind::member_mask;
  f.detail = std::move(detail);
  f.hint = std::move(hint);
  throw kernel_fault{f};
}

// Lanes with the same member mask. `required` excludes lanes that have exited or have no thread.
struct member_group {
  lane_mask lanes = 0, required = 0;
};

// Whether all lanes of a register have one mask, which then needs no comparison of lanes.
bool has_one_mask(const std::uint32_t* members) {
  std::uint32_t differences = 0;
  for (int lane = 1; lane < warp_size; ++lane) differences |= members[lane] ^ members[0];
  return differences == 0;
}

member_group first_group(warp& view, const instruction& instr, lane_mask lanes) {
  const std::uint32_t* members = view.at<std::uint32_t>(instr.operand[4]);
  int first = __builtin_ctz(lanes);
  member_group group{lanes, members[first] & view.live};
  lane_mask remaining = has_one_mask(members) ? 0 : lanes;
  for (; remaining; remaining &= remaining - 1) {
    int lane = __builtin_ctz(remaining);
    if (members[lane] != members[first]) group.lanes &= ~(1u << lane);
  }
  if (!view.block->launch->options.check_sync) {
    group.required |= group.lanes;
    return group;
  }
  if (lane_mask strangers = group.lanes & ~members[first]) {
    raise_member_fault(
        view, instr, __builtin_ctz(strangers),
        "the thread is not in its own member mask " + report::hexadecimal(members[first]),
        "compute the mask before the branch, from all participating threads");
  }
  return group;
}

// Lets the checks record lanes of one mask that have executed an instruction. Call before it stores
// a result, which may replace the mask.
void note_mask(warp& view, const instruction& instr, lane_mask lanes) {
  auto* const barriers = view.block->launch->barriers;
  if (!barriers) return;
  const auto* members = view.at<lane_mask>(instr.operand[4]);
  barriers->pass(view, instr, lanes, members[__builtin_ctz(lanes)]);
}

// Executes the instruction for the splits of a complete group and makes them ready.
void run_waiting(warp_state& w, std::vector<warp_split> together) {
  auto run_step = [&](exchange_step step) {
    w.view.step = step;
    for (const warp_split& f : together) {
      activate(w.view, *f.top_frame);
      w.view.active = f.lanes;
      w.view.participants = f.members;
      const instruction& instr = f.top_frame->function->code[f.next];
      instr.run(w.view, instr);
    }
  };
  for (const warp_split& f : together) {
    activate(w.view, *f.top_frame);
    note_mask(w.view, f.top_frame->function->code[f.next], f.lanes);
  }
  const warp_split& first = together.front();
  if (auto* races = w.view.block->launch->races) {
    activate(w.view, *first.top_frame);
    races->meet(w.view, first.top_frame->function->code[first.next], first.members);
  }
  if (together.size() == 1) {
    if (auto* definedness = w.view.block->launch->definedness) {
      activate(w.view, *first.top_frame);
      w.view.active = first.lanes;
      definedness->meet(w.view, first.top_frame->function->code[first.next], first.lanes);
    }
    run_step(exchange_step::write_and_read);
  } else {
    run_step(exchange_step::write);
    run_step(exchange_step::read);
    w.view.step = exchange_step::write_and_read;
  }
  for (warp_split& f : together) {
    ++f.next;
    add_ready(w, f);
  }
}

bool waits_with(const warp_split& f, lane_mask required, handler run) {
  return f.state == split_state::at_collective && f.members == required &&
         f.top_frame->function->code[f.next].run == run;
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
      together.push_back(w.splits.extract(i));
    } else {
      ++i;
    }
  }
  run_waiting(w, std::move(together));
}

}  // namespace

bool run_together(warp_state& w, const instruction& instr, lane_mask lanes) {
  warp& view = w.view;
  const auto* members = view.at<lane_mask>(instr.operand[4]);
  if (auto* barriers = view.block->launch->barriers; barriers && !has_one_mask(members)) {
    barriers->meet(view, instr, lanes, members);
  }
  member_group whole = first_group(view, instr, lanes);
  if (whole.lanes == lanes) {
    if (whole.required != lanes) return false;
    view.active = view.participants = lanes;
    note_mask(view, instr, lanes);
    instr.run(view, instr);
    if (view.block->launch->races) view.block->launch->races->meet(view, instr, lanes);
    return true;
  }
  for (lane_mask remaining = lanes; remaining;) {
    member_group group = first_group(view, instr, remaining);
    if (group.required != group.lanes) return false;
    remaining &= ~group.lanes;
  }
  // The result register may store the masks, so all groups are computed before the first executes.
  std::vector<lane_mask> groups;
  for (lane_mask remaining = lanes; remaining; remaining &= ~groups.back()) {
    groups.push_back(first_group(view, instr, remaining).lanes);
    note_mask(view, instr, groups.back());
  }
  for (lane_mask group : groups) {
    view.active = view.participants = group;
    instr.run(view, instr);
    if (view.block->launch->races) view.block->launch->races->meet(view, instr, group);
  }
  return true;
}

void join_collective(warp_state& w, std::size_t index, const instruction& instr) {
  warp_split f = w.splits.extract(index);
  std::vector<warp_split> parts;
  for (lane_mask remaining = f.lanes; remaining; remaining &= ~parts.back().lanes) {
    member_group group = first_group(w.view, instr, remaining);
    warp_split part = f;
    part.lanes = group.lanes;
    part.members = group.required;
    part.state = split_state::at_collective;
    parts.push_back(part);
  }
  f.top_frame->users += static_cast<std::uint32_t>(parts.size()) - 1;
  for (const warp_split& part : parts) w.splits.add(part);
  for (const warp_split& part : parts) run_if_complete(w, part.members, instr.run);
}

void check_members(warp_state& w) {
  std::vector<warp_split> waiting;
  for (warp_split& f : w.splits) {
    if (f.state != split_state::at_collective) continue;
    f.members &= w.view.live;
    waiting.push_back(f);
  }
  for (const warp_split& f : waiting) {
    run_if_complete(w, f.members, f.top_frame->function->code[f.next].run);
  }
}

}  // namespace halfwarp::emulator::exec
