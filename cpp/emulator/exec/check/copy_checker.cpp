// SPDX-License-Identifier: Apache-2.0
// Follows the groups of asynchronous copies of each thread.
#include "emulator/exec/check/copy_checker.hpp"

#include <bit>

#include "emulator/exec/access.hpp"
#include "emulator/exec/async/async.hpp"
#include "emulator/exec/check/race_checker.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/watch/access_shape.hpp"

namespace halfwarp::emulator::exec {
namespace {

template <class Visitor>
void each_lane(lane_mask lanes, Visitor&& visit) {
  for (; lanes; lanes &= lanes - 1) visit(std::countr_zero(lanes));
}

std::uint32_t thread_of(const warp& w, int lane) {
  return w.index * warp_size + static_cast<std::uint32_t>(lane);
}

}  // namespace

copy_checker::copy_checker(const launch_state& launch) : launch_{launch} {
  for (const function_code& function : launch.code.functions) {
    for (const instruction& instr : function.code) {
      is_tracked_ |= instr.run == &run_copy;
    }
  }
}

void copy_checker::record(const warp_access& access) {
  warp& w = access.view;
  const instruction& instr = access.instr;
  const lane_mask lanes = access.lanes;
  block_copies& copies = blocks_.at(w.block);
  if (instr.run == &run_copy) {
    start(copies, w, instr, lanes);
  } else if (instr.run == &run_commit_copies) {
    each_lane(lanes, [&](int l) { ++copies.groups[thread_of(w, l)]; });
  } else if (instr.run == &run_wait_copies) {
    const auto allowed = static_cast<std::uint64_t>(instr.immediate);
    complete(copies, w, lanes, [&](const copy& each) {
      return instr.immediate < 0 || each.group + allowed < copies.groups[each.thread];
    });
  } else if (instr.run == &run_copy_arrive) {
    // The barrier publishes the copies to the threads that test its phase.
    complete(copies, w, lanes, [](const copy&) { return true; });
  } else if (!copies.pending.empty() && access.site.use == race_site::role::access) {
    compare(copies, access);
  }
}

void copy_checker::start(block_copies& copies, warp& w, const instruction& instr, lane_mask lanes) {
  const std::uint32_t bytes = instr.flags & copy_flag::bytes;
  each_lane(lanes, [&](int l) {
    const std::uint64_t first = w.at<std::uint64_t>(instr.operand[0])[l];
    const std::uint32_t thread = thread_of(w, l);
    copies.pending.push_back({first, first + bytes, thread, copies.groups[thread], &instr});
  });
}

// A complete copy is a store by its thread.
template <class Condition>
void copy_checker::complete(block_copies& copies, warp& w, lane_mask lanes,
                            Condition is_complete) const {
  std::erase_if(copies.pending, [&](const copy& each) {
    const std::uint32_t lane = each.thread % warp_size;
    if (each.thread / warp_size != w.index || !(lanes >> lane & 1)) return false;
    if (!is_complete(each)) return false;
    if (launch_.races && each.end <= w.shared_bytes) {
      const auto bytes = static_cast<std::uint32_t>(each.end - each.first);
      launch_.races->record_copy(w, *each.by, lane, w.shared + each.first, bytes);
    }
    return true;
  });
}

void copy_checker::compare(const block_copies& copies, const warp_access& access) {
  warp& w = access.view;
  const instruction& instr = access.instr;
  each_lane(access.lanes, [&](int l) {
    const auto word = word_of(w, instr, access.site.shape, l);
    if (!word || !word->is_shared) return;
    const std::uint64_t first = word->address, end = first + access.bytes;
    for (const copy& each : copies.pending) {
      if (first >= each.end || each.first >= end) continue;
      return add_finding(w, instr, l, each, first);
    }
  });
}

void copy_checker::add_finding(const warp& w, const instruction& instr, int lane, const copy& early,
                               std::uint64_t offset) {
  const finding_key key{&instr, early.by};
  if (const auto known = findings_.find(key); known != findings_.end()) {
    ++known->second.count;
    return;
  }
  report::fault f = describe_fault(w, instr, lane);
  const extent& block = launch_.request.block;
  report::fault start;
  set_source(start, *launch_.request.entry->owner().source, *w.function->source, early.by->source);
  f.kind = report::fault_kind::async_copy;
  f.space = report::memory_space::shared;
  f.address = offset;
  f.detail = "an access before the wait for the asynchronous copy to these bytes";
  f.hint =
      "wait for the group of the copy in the thread that started it, then synchronize the "
      "threads: cp.async.wait_group and __syncthreads()";
  report::earlier_access& earlier = f.earlier.emplace();
  earlier.access = report::access_kind::store;
  earlier.block_index = f.block_index;
  earlier.thread = {early.thread % block.x, early.thread / block.x % block.y,
                    early.thread / block.x / block.y};
  earlier.ptx_line = start.ptx_line;
  earlier.source_file = start.source_file;
  earlier.source_line = start.source_line;
  earlier.instruction = start.instruction;
  findings_.emplace(key, std::move(f));
}

std::vector<report::fault> copy_checker::findings() const {
  std::vector<report::fault> all;
  for (const auto& [key, finding] : findings_) all.push_back(finding);
  return all;
}

}  // namespace halfwarp::emulator::exec
