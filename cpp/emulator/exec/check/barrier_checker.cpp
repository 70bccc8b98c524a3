// SPDX-License-Identifier: Apache-2.0
// Judges arrivals at barriers, threads that skip one, and masks of lanes.
#include "emulator/exec/check/barrier_checker.hpp"

#include <bit>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/barrier.hpp"
#include "emulator/exec/schedule/state.hpp"
#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::exec {
namespace {

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

}  // namespace

void barrier_checker::begin(const block_state& block) {
  last_block_ = nullptr;
  blocks_[&block].assign(block.warps.size(), {});
}

std::vector<barrier_checker::stores>& barrier_checker::stores_of(const block_state& block) {
  if (&block != last_block_) {
    last_block_ = &block;
    last_stores_ = &blocks_.at(&block);
  }
  return *last_stores_;
}

bool barrier_checker::is_recorded(const race_site& site) {
  return site.use == race_site::role::access && site.shape.use != memory_use::load &&
         site.at->kind == flow::next;
}

// Records stores: a thread that stores behind a barrier did not return early.
void barrier_checker::record(const warp_access& access) {
  const warp& w = access.view;
  if (w.current->depth != 0) return;
  const auto index = static_cast<std::uint32_t>(&access.instr - w.function->code.data());
  set(stores_of(*w.block)[w.index], access.lanes, index + 1);
}

void barrier_checker::arrive(const warp& w, const instruction& instr, lane_mask lanes,
                             std::uint32_t count, const barrier_state& before) {
  set(stores_of(*w.block)[w.index], lanes, 0);
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

// Returns whether each path from a barrier to the end of the kernel executes the store.
bool barrier_checker::follows_always(const function_code& function, std::uint32_t barrier,
                                     std::uint32_t store) {
  const auto [known, is_new] = follows_.try_emplace({barrier, store}, false);
  if (!is_new) return known->second;
  const std::uint32_t from = function.code[barrier].source, to = function.code[store].source;
  const ptx::control_flow flow = ptx::find_blocks(*function.source);
  if (from >= flow.block_of.size() || to >= flow.block_of.size()) return false;
  const std::uint32_t start = flow.block_of[from], avoided = flow.block_of[to];
  if (start == avoided) return known->second = to > from;
  std::vector<bool> is_seen(flow.blocks.size());
  std::vector<std::uint32_t> todo{start};
  is_seen[start] = true;
  while (!todo.empty()) {
    const ptx::basic_block& block = flow.blocks[todo.back()];
    todo.pop_back();
    if (block.successors.empty()) return false;
    for (const std::uint32_t next : block.successors) {
      if (next == avoided || is_seen[next]) continue;
      is_seen[next] = true;
      todo.push_back(next);
    }
  }
  return known->second = true;
}

void barrier_checker::open(const block_state& block, const instruction& instr) {
  if (block.live_threads == launch_.request.block.count()) return;
  const function_code& function = launch_.code.functions.front();
  const instruction* const first = function.code.data();
  if (&instr < first || &instr >= first + function.code.size()) return;
  const auto barrier = static_cast<std::uint32_t>(&instr - first);
  const std::vector<stores>& all = stores_of(block);
  for (const warp_state& w : block.warps) {
    const stores& last = all[w.view.index];
    each_lane(w.view.existing & ~w.view.live, [&](int l) {
      const std::uint32_t store = last[static_cast<std::size_t>(l)];
      if (store == 0 || !follows_always(function, barrier, store - 1)) return;
      warp view = w.view;
      view.function = &function;
      report::fault f = describe_fault(view, instr, l);
      const report::fault later = describe_fault(view, function.code[store - 1], l);
      f.detail = "threads skip a barrier at which other threads of their block wait";
      f.hint =
          "__syncthreads() must be reached by all threads of the block, or by none: move it "
          "out of the branch or loop";
      f.earlier = report::earlier_access{
          report::access_kind::store, later.block_index, later.thread,     later.ptx_line,
          later.source_file,          later.source_line, later.instruction};
      add_finding({&instr, f.detail}, std::move(f));
    });
  }
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
    f.hint = "compute the mask once, before the branch, from all participating threads";
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
