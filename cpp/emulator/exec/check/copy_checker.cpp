// SPDX-License-Identifier: Apache-2.0
// Follows the groups of asynchronous copies of each thread.
#include "emulator/exec/check/copy_checker.hpp"

#include <bit>

#include "emulator/exec/access.hpp"
#include "emulator/exec/async/async.hpp"
#include "emulator/exec/async/bulk_site.hpp"
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
      is_tracked_ |= instr.run == &run_copy || instr.run == &run_commit_bulk;
    }
  }
}

void copy_checker::begin(const block_state& block) {
  if (!is_tracked_) return;
  block_copies& copies = blocks_[&block];
  copies.targets.clear();
  copies.sources.clear();
  for (auto& each : copies.groups) each.assign(block.warps.size() * warp_size, 0);
}

void copy_checker::record(const warp_access& access) {
  warp& w = access.view;
  const instruction& instr = access.instr;
  const lane_mask lanes = access.lanes;
  block_copies& copies = blocks_.at(w.block);
  const bool is_bulk = instr.run == &run_commit_bulk || instr.run == &run_wait_bulk;
  auto& groups = copies.groups[is_bulk];
  if (instr.run == &run_copy) {
    start(copies, w, instr, lanes);
  } else if (instr.run == &run_commit_copies || instr.run == &run_commit_bulk) {
    each_lane(lanes, [&](int l) { ++groups[thread_of(w, l)]; });
  } else if (instr.run == &run_wait_copies || is_bulk) {
    const auto allowed = static_cast<std::uint64_t>(instr.immediate);
    complete(copies, w, lanes, is_bulk, instr.immediate < 0 ? 0 : allowed + 1);
  } else if (instr.run == &run_copy_arrive) {
    // The barrier publishes the copies to the threads that test its phase.
    complete(copies, w, lanes, false, 0);
  } else if (access.site.use == race_site::role::access) {
    compare(copies.targets, access, false);
    if (access.site.shape.use != memory_use::load) compare(copies.sources, access, true);
  }
}

void copy_checker::start(block_copies& copies, warp& w, const instruction& instr, lane_mask lanes) {
  const std::uint32_t bytes = instr.flags & copy_flag::bytes;
  each_lane(lanes, [&](int l) {
    const std::uint64_t first = w.at<std::uint64_t>(instr.operand[0])[l];
    if (first + bytes > w.shared_bytes) return;
    const std::uint32_t thread = thread_of(w, l);
    copies.targets.push_back(
        {w.shared + first, bytes, thread, copies.groups[0][thread], &instr, false});
  });
}

void copy_checker::add_source(const warp& w, const instruction& instr, int lane,
                              const std::byte* from, std::uint32_t bytes) {
  if (!is_tracked_) return;
  block_copies& copies = blocks_.at(w.block);
  const bool is_bulk = instr.run != &run_copy;
  const std::uint32_t thread = thread_of(w, lane), group = copies.groups[is_bulk][thread];
  if (!copies.sources.empty()) {
    copy& last = copies.sources.back();
    const bool is_same = last.by == &instr && last.thread == thread && last.group == group;
    if (is_same && last.first + last.bytes == from) {
      last.bytes += bytes;
      return;
    }
  }
  copies.sources.push_back({from, bytes, thread, group, &instr, is_bulk});
}

// A complete copy is a store by its thread.
void copy_checker::complete(block_copies& copies, warp& w, lane_mask lanes, bool are_bulk,
                            std::uint64_t distance) const {
  const auto ends = [&](const copy& each) {
    return each.thread / warp_size == w.index && (lanes >> each.thread % warp_size & 1) &&
           each.is_bulk == are_bulk &&
           each.group + distance <= copies.groups[are_bulk][each.thread];
  };
  std::erase_if(copies.sources, ends);
  std::erase_if(copies.targets, [&](const copy& each) {
    if (!ends(each)) return false;
    if (launch_.races) {
      launch_.races->record_copy(w, *each.by, each.thread % warp_size, each.first, each.bytes);
    }
    return true;
  });
}

void copy_checker::compare(const std::vector<copy>& copies, const warp_access& access,
                           bool are_sources) {
  if (copies.empty()) return;
  warp& w = access.view;
  const instruction& instr = access.instr;
  each_lane(access.lanes, [&](int l) {
    const auto word = word_of(w, instr, access.site.shape, l);
    if (!word) return;
    const auto* const first = reinterpret_cast<const std::byte*>(word->cell);
    for (const copy& each : copies) {
      if (first >= each.first + each.bytes || each.first >= first + access.bytes) continue;
      return add_finding(w, instr, l, each, *word, are_sources);
    }
  });
}

void copy_checker::add_finding(const warp& w, const instruction& instr, int lane, const copy& early,
                               const shared_word& word, bool is_source) {
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
  if (word.is_shared) f.space = report::memory_space::shared;
  f.address = word.address;
  f.detail = is_source ? "a store before the wait for the asynchronous copy from these bytes"
                       : "an access before the wait for the asynchronous copy to these bytes";
  f.hint = "wait for the group of the copy in the thread that started it, then synchronize the ";
  f.hint += early.is_bulk ? "threads: cp.async.bulk.wait_group.read and __syncthreads()"
                          : "threads: cp.async.wait_group and __syncthreads()";
  report::earlier_access& earlier = f.earlier.emplace();
  earlier.access = is_source ? report::access_kind::load : report::access_kind::store;
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
