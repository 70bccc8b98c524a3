// SPDX-License-Identifier: Apache-2.0
// Judges arrivals at barriers, threads that skip one, and masks of lanes.
#include "emulator/exec/check/barrier_checker.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "emulator/exec/access.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/barrier.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t elsewhere = ~0u;  // the place of an instruction of another function
constexpr const char* mask_hint =
    "compute the mask once, before the branch, from all participating threads";

template <class Visitor>
void each_lane(lane_mask lanes, Visitor&& visit) {
  for (; lanes; lanes &= lanes - 1) visit(std::countr_zero(lanes));
}

void set(std::array<std::uint32_t, warp_size>& values, lane_mask lanes, std::uint32_t value) {
  if (lanes == all_lanes) {
    using words [[gnu::vector_size(16)]] = std::uint32_t;
    const words all = words{} + value;
    for (std::size_t i = 0; i < warp_size; i += 4) std::memcpy(&values[i], &all, sizeof(all));
    return;
  }
  each_lane(lanes, [&](int l) { values[static_cast<std::size_t>(l)] = value; });
}

// Returns the place of an instruction in the kernel's function: its index plus 1. For an
// instruction of a called function it is the place of the call.
std::uint32_t place_of(const frame& of, const instruction& instr) {
  if (of.depth == 0) return static_cast<std::uint32_t>(&instr - of.function->code.data()) + 1;
  const frame* called = &of;
  while (called->depth > 1) called = called->parent;
  return called->return_index;
}

// Returns whether a path from `next`, without `avoided`, executes `to`, or ends the thread if that
// is `elsewhere`.
bool has_path(const ptx::control_flow& flow, std::uint32_t next, std::uint32_t to,
              std::uint32_t avoided) {
  if (next >= flow.block_of.size()) return to == elsewhere;
  std::vector<bool> is_seen(flow.blocks.size());
  std::vector<std::uint32_t> todo{next};
  while (!todo.empty()) {
    const std::uint32_t first = todo.back();
    todo.pop_back();
    const ptx::basic_block& block = flow.blocks[flow.block_of[first]];
    const std::uint32_t end = avoided >= first ? std::min(avoided, block.end) : block.end;
    if (to >= first && to < end) return true;
    if (end < block.end) continue;
    if (block.successors.empty() && to == elsewhere) return true;
    for (const std::uint32_t each : block.successors) {
      if (is_seen[each]) continue;
      is_seen[each] = true;
      todo.push_back(flow.blocks[each].first);
    }
  }
  return false;
}

}  // namespace

barrier_checker::barrier_checker(const launch_state& launch) : launch_{launch} {
  const auto is_of_clusters = [](const instruction& instr) {
    return instr.kind == flow::barrier &&
           static_cast<barrier_operation>(instr.immediate) >= barrier_operation::cluster_arrive;
  };
  for (const function_code& function : launch.code.functions) {
    has_cluster_barriers_ |= std::ranges::any_of(function.code, is_of_clusters);
  }
}

void barrier_checker::begin(const block_state& block) {
  if (has_cluster_barriers_) clusters_[block.cluster] = {};
  last_block_ = nullptr;
  std::vector<marks>& all = blocks_[&block];
  all.resize(block.warps.size());
  for (marks& each : all) {
    each.begin(0);
  }
}

barrier_checker::marks& barrier_checker::common_marks_of(const warp& w) {
  if (w.block != last_block_) {
    last_block_ = w.block;
    last_marks_ = &blocks_.at(w.block);
  }
  return (*last_marks_)[w.index];
}

barrier_checker::marks& barrier_checker::marks_of(const warp& w) {
  marks& of = common_marks_of(w);
  if (std::exchange(of.is_common, false)) {
    for (auto* each : {&of.store, &of.newest, &of.members}) set(*each, all_lanes, 0);
    for (auto* each : {&of.barrier, &of.last}) set(*each, all_lanes, of.place);
    for (auto* each : {&of.store, &of.newest}) set(*each, of.stored, of.storing);
  }
  return of;
}

bool barrier_checker::is_recorded(const race_site& site) {
  return site.use == race_site::role::access && site.shape.use != memory_use::load &&
         site.at->kind == flow::next;
}

// Records stores: a thread that stores behind a barrier did not return early.
void barrier_checker::record(const warp_access& access) {
  if (access.view.current->depth != 0) return;
  const std::uint32_t place = place_of(*access.view.current, access.instr);
  marks& common = common_marks_of(access.view);
  if (common.is_common && !(common.stored & ~access.lanes)) {
    common.stored = access.lanes;
    common.storing = place;
    return;
  }
  marks& of = marks_of(access.view);
  set(of.store, access.lanes, place);
  set(of.newest, access.lanes, place);
}

void barrier_checker::arrive(const warp& w, const instruction& instr, lane_mask lanes,
                             std::uint32_t count, const barrier_state& before) {
  const std::uint32_t place = place_of(*w.current, instr);
  if (lanes == all_lanes) {
    common_marks_of(w).begin(place);
  } else {
    marks& of = marks_of(w);
    for (auto* each : {&of.store, &of.newest, &of.members}) set(*each, lanes, 0);
    for (auto* each : {&of.barrier, &of.last}) set(*each, lanes, place);
  }
  const auto report = [&](std::string detail, std::string hint) {
    report::fault f = describe_fault(w, instr, std::countr_zero(lanes));
    f.detail = std::move(detail);
    f.hint = std::move(hint);
    add_finding({&instr, f.detail}, std::move(f));
  };
  if (count % warp_size != 0) {
    report("the thread count " + std::to_string(count) + " is no multiple of the warp size",
           "pass the number of threads of all warps that arrive");
  }
  if (before.arrived == 0) return;
  if (before.expected != count) {
    report("the threads of one barrier expect " + std::to_string(before.expected) + " and " +
               std::to_string(count) + " threads",
           "pass the same count at each instruction of a barrier");
  }
  const bool is_reduction =
      static_cast<barrier_operation>(instr.immediate) >= barrier_operation::red_popc;
  if (before.is_reduction != is_reduction) {
    report("some threads reduce at the barrier, and some only wait",
           "use the same instruction in all threads of a barrier");
  }
}

// Returns whether a thread skipped an instruction: each path behind it executes the thread's store.
// A store that each path from the thread's last barrier executes before the instruction is no
// evidence.
bool barrier_checker::is_skipped(const function_code& function, std::uint32_t from,
                                 std::uint32_t place, std::uint32_t store) {
  if (store == 0 || from == elsewhere) return false;
  if (flow_.blocks.empty()) flow_ = ptx::find_blocks(*function.source);
  const auto source = [&](std::uint32_t of) { return function.code[of - 1].source; };
  const std::uint32_t next = from ? source(from) + 1 : 0, to = source(place), by = source(store);
  return !has_path(flow_, to + 1, elsewhere, by) &&
         (has_path(flow_, next, to, by) || !has_path(flow_, next, to, elsewhere));
}

void barrier_checker::add_skip(const warp& w, const block_index& block, const instruction& instr,
                               int lane, std::uint32_t store, const char* detail,
                               const char* hint) {
  warp view = w;
  view.function = &launch_.code.functions.front();
  report::fault f = describe_fault(view, instr, lane);
  f.block_index = block;
  f.detail = detail;
  f.hint = hint;
  if (store) {
    const report::fault later = describe_fault(view, view.function->code[store - 1], lane);
    f.earlier = report::earlier_access{report::access_kind::store,
                                       block,
                                       later.thread,
                                       later.ptx_line,
                                       later.source_file,
                                       later.source_line,
                                       later.instruction};
  }
  add_finding({&instr, f.detail}, std::move(f));
}

bool barrier_checker::may_skip(const block_state& block) const {
  return block.live_threads != launch_.request.block.count();
}

void barrier_checker::open(const block_state& block, const warp_split& waiting) {
  const frame& at = *waiting.top_frame;
  const function_code& function = launch_.code.functions.front();
  const std::uint32_t place = place_of(at, at.function->code[waiting.next]);
  const instruction& instr = function.code[place - 1];
  for (const warp_state& w : block.warps) {
    const marks& of = marks_of(w.view);
    std::uint32_t from = elsewhere, store = 0;
    bool is_skip = false;
    each_lane(w.view.existing & ~w.view.live, [&](int l) {
      const auto lane = static_cast<std::size_t>(l);
      const bool is_known = from == of.barrier[lane] && store == of.store[lane];
      from = of.barrier[lane];
      store = of.store[lane];
      if (!is_known) is_skip = is_skipped(function, from, place, store);
      if (!is_skip) return;
      add_skip(w.view, block.index, instr, l, store,
               "threads skip a barrier at which other threads of their block wait",
               "__syncthreads() must be reached by all threads of the block, or by none: move it "
               "out of the branch or loop");
    });
  }
}

void barrier_checker::arrive_at_cluster(const warp& w, const instruction& instr, lane_mask lanes) {
  arrive(w, instr, lanes, 0, {});
  clusters_[w.block->cluster].place = place_of(*w.current, instr);
}

void barrier_checker::leave(const warp& w, lane_mask lanes) {
  if (!has_cluster_barriers_) return;
  const marks& of = marks_of(w);
  std::vector<departure>& all = clusters_[w.block->cluster].departures;
  each_lane(lanes, [&](int l) {
    const std::uint32_t barrier = of.barrier[static_cast<std::size_t>(l)],
                        store = of.store[static_cast<std::size_t>(l)];
    const bool is_known = !all.empty() && all.back().block == w.block->index &&
                          all.back().view.index == w.index && all.back().barrier == barrier &&
                          all.back().store == store;
    if (store && !is_known) all.push_back({w, w.block->index, l, barrier, store});
  });
}

void barrier_checker::open(const cluster_state& cluster) {
  const auto& [place, departures] = clusters_[&cluster];
  const function_code& function = launch_.code.functions.front();
  for (const departure& each : departures) {
    if (!is_skipped(function, each.barrier, place, each.store)) continue;
    add_skip(each.view, each.block, function.code[place - 1], each.lane, each.store,
             "threads skip the barrier of their cluster, at which others wait",
             "the barrier of a cluster must be reached by all threads of the cluster, or by none");
  }
}

void barrier_checker::pass(const warp& w, const instruction& instr, lane_mask lanes,
                           lane_mask members) {
  marks& of = marks_of(w);
  const std::uint32_t place = place_of(*w.current, instr);
  if (w.current->depth == 0) {
    each_lane(members & w.existing & ~w.live, [&](int l) {
      const auto lane = static_cast<std::size_t>(l);
      const bool has_other_mask = of.members[lane] && !(of.members[lane] & lanes);
      if (!has_other_mask) return;
      const std::uint32_t last = of.last[lane], store = of.newest[lane];
      const bool is_same = last == place;
      if (!is_same && !is_skipped(*w.function, last, place, store)) return;
      add_skip(w, w.block->index, instr, l, is_same ? 0 : store,
               "lanes that the mask names used another mask and exited", mask_hint);
    });
  }
  set(of.newest, lanes, 0);
  set(of.last, lanes, place);
  set(of.members, lanes, members);
}

void barrier_checker::meet(const warp& w, const instruction& instr, lane_mask lanes,
                           const lane_mask* members) {
  const int first = std::countr_zero(lanes);
  each_lane(lanes, [&](int l) {
    if (members[l] == members[first] || !(members[l] & lanes & ~(1u << l))) return;
    lane_mask unequal = members[l] & lanes;
    each_lane(unequal, [&](int other) {
      if (members[other] == members[l]) unequal &= ~(1u << other);
    });
    if (!unequal) return;
    report::fault f = describe_fault(w, instr, l);
    f.detail = "the lanes of one instruction have different masks that name each other";
    f.hint = mask_hint;
    add_finding({&instr, f.detail}, std::move(f));
  });
}

void barrier_checker::add_finding(const finding_key& key, report::fault finding) {
  finding.kind = report::fault_kind::barrier;
  const auto [known, is_new] = findings_.try_emplace(key, std::move(finding));
  if (!is_new) ++known->second.count;
}

std::vector<report::fault> barrier_checker::findings() const {
  std::vector<report::fault> all;
  for (const auto& [key, finding] : findings_) all.push_back(finding);
  return all;
}

}  // namespace halfwarp::emulator::exec
