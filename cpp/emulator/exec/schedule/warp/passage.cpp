// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/schedule/warp/passage.hpp"

#include "emulator/exec/schedule/warp/frame.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t none = ~0u;

// Returns the way that all existing lanes take together; forward only, so that it ends.
passage find(const warp& view, const std::vector<instruction>& code, std::uint32_t at) {
  passage way;
  for (std::uint32_t segment = at;;) {
    const instruction& instr = code[at];
    if (instr.kind == flow::next && instr.shape == fixed_shape) {
      ++at;
    } else if (instr.kind == flow::branch && instr.cache == decided_branch) {
      const lane_mask flags = instr.guard < 0 ? all_lanes : view.predicates[instr.guard];
      const lane_mask taken = (flags ^ instr.guard_flip) & view.existing;
      if (taken && (taken != view.existing || instr.target <= at)) return {0, none};
      ++at;
      if (!taken) continue;
      way.steps += at - segment;
      at = segment = instr.target;
    } else if (instr.kind == flow::barrier && instr.guard < 0 && is_common_barrier(instr)) {
      return {at, way.steps + at + 1 - segment};
    } else {
      return {0, none};
    }
  }
}

const passage& passage_of(warp_state& w, frame& f, std::uint32_t number, std::uint32_t next) {
  if (f.passages.empty()) f.passages.resize(f.function->passages);
  passage& known = f.passages[number - 1];
  if (known.steps == 0) {
    activate(w.view, f);
    known = find(w.view, f.function->tuned, next);
  }
  return known;
}

}  // namespace

bool waits_after_passages(warp_state& w, std::uint64_t& budget) {
  warp_split& f = w.splits[0];
  const std::vector<instruction>& code = f.top_frame->function->tuned;
  while (code[f.next - 1].kind == flow::barrier && code[f.next - 1].cache) {
    const passage& way = passage_of(w, *f.top_frame, code[f.next - 1].cache, f.next);
    if (way.steps >= budget) return false;
    budget -= way.steps;
    w.view.executed += std::uint64_t{way.steps} * lanes_in(f.lanes);
    w.is_rotating = false;
    f.next = way.barrier;
    activate(w.view, *f.top_frame);
    if (!arrive_together(w, code[f.next])) return true;
  }
  return false;
}

}  // namespace halfwarp::emulator::exec
