// SPDX-License-Identifier: Apache-2.0
// cp.async: copies from global to shared memory that a thread waits for.
//
// A copy may complete at any time until the wait. It completes at once, or with the option
// copies_are_late at the wait, so that a read before the wait returns the old bytes.
#include <bit>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/async/async.hpp"
#include "emulator/exec/check/launch_checks.hpp"
#include "emulator/exec/each_lane.hpp"
#include "emulator/exec/lanes/location.hpp"
#include "emulator/exec/schedule/cluster.hpp"

namespace halfwarp::emulator::exec {
namespace {

std::uint64_t offset_of(warp& w, const instruction& instr, int lane) {
  return w.at<std::uint64_t>(instr.operand[0])[lane];
}

void require_shared(warp& w, const instruction& instr, std::uint32_t bytes) {
  const auto* at = w.at<std::uint64_t>(instr.operand[0]);
  const std::uint64_t size = bytes, limit = w.shared_bytes - size;
  if (!baseline::summarize(at, std::uint64_t{0}, limit, size, w.active).wrong) return;
  raise_shared_fault(w, instr, {report::access_kind::store, bytes}, &offset_of);
}

[[noreturn]] void raise_size(const warp& w, const instruction& instr, int lane, std::uint32_t size,
                             std::uint32_t bytes) {
  report::fault f = describe_fault(w, instr, lane);
  f.kind = report::fault_kind::out_of_bounds;
  f.detail = "the source size " + std::to_string(size) + " is greater than the " +
             std::to_string(bytes) + " bytes of the copy";
  f.hint = "pass a source size of at most the size of the copy";
  throw kernel_fault{f};
}

// Returns the bytes that each lane reads; the rest of a copy is zeros.
std::array<std::uint8_t, warp_size> sizes_of(warp& w, const instruction& instr,
                                             std::uint32_t bytes) {
  std::array<std::uint8_t, warp_size> sizes;
  sizes.fill(static_cast<std::uint8_t>(bytes));
  if (instr.flags & copy_flag::has_predicate) {
    for_each_lane(w.predicates[instr.operand[1]], [&](int l) { sizes[l] = 0; });
  }
  if (!(instr.flags & copy_flag::has_size)) return sizes;
  const auto* size = w.at<std::uint32_t>(instr.operand[1]);
  for_each_lane(w.active, [&](int l) {
    if (size[l] > bytes) raise_size(w, instr, l, size[l], bytes);
    sizes[l] = static_cast<std::uint8_t>(size[l]);
  });
  return sizes;
}

using host_addresses = std::array<std::uint64_t, warp_size>;

// Finds the sources of the active lanes, each with `bytes` bytes.
void find_sources(warp& w, const instruction& instr, lane_mask lanes, std::uint32_t bytes,
                  host_addresses& from) {
  if (!lanes) return;
  const lane_mask active = w.active;
  w.active = lanes;
  const auto source = baseline::global_location::find(w, instr, {report::access_kind::load, bytes});
  for_each_lane(lanes, [&](int l) { from[l] = source.host(l); });
  w.active = active;
}

// A lane that reads a part of its copy needs an aligned address and the bytes of this part.
void check_part(warp& w, const instruction& instr, int lane, std::uint32_t bytes,
                std::uint32_t size) {
  const auto at =
      w.at<std::uint64_t>(instr.operand[4])[lane] + static_cast<std::uint64_t>(instr.immediate);
  host_addresses ignored;
  if (at % bytes) return find_sources(w, instr, 1u << lane, bytes, ignored);
  instruction last = instr;
  last.immediate += size - 1;
  find_sources(w, last, 1u << lane, 1, ignored);
}

void complete(warp& w, const pending_copy& copy) {
  std::byte* to = w.shared + copy.to;
  std::memcpy(to, reinterpret_cast<const void*>(copy.from), copy.read);
  std::memset(to + copy.read, 0, copy.bytes - copy.read);
}

// Copies whole units, or fills them with zeros.
template <std::size_t bytes>
void complete_units(warp& w, const instruction& instr, lane_mask whole,
                    const host_addresses& from) {
  const auto* to = w.at<std::uint64_t>(instr.operand[0]);
  for_each_lane(whole, [&](int l) {
    std::memcpy(w.shared + to[l], reinterpret_cast<const void*>(from[l]), bytes);
  });
  for_each_lane(w.active & ~whole, [&](int l) { std::memset(w.shared + to[l], 0, bytes); });
}

void complete_units(warp& w, const instruction& instr, lane_mask whole, std::uint32_t bytes,
                    const host_addresses& from) {
  if (bytes == 16) return complete_units<16>(w, instr, whole, from);
  if (bytes == 8) return complete_units<8>(w, instr, whole, from);
  complete_units<4>(w, instr, whole, from);
}

std::uint32_t thread_of(const warp& w, int lane) {
  return w.index * warp_size + static_cast<std::uint32_t>(lane);
}

void add_pieces(bulk_copy& to, warp& w, const pending_copy& copy) {
  static constexpr std::byte zeros[16]{};
  std::byte* const target = w.shared + copy.to;
  to.pieces.push_back({reinterpret_cast<const std::byte*>(copy.from), target, copy.read});
  to.pieces.push_back({zeros, target + copy.read, std::uint32_t{copy.bytes} - copy.read});
}

thread_copies& copies_of(warp& w, int lane) {
  auto& all = w.block->copies;
  if (all.empty()) all.resize(w.block->warps.size() * warp_size);
  return all[thread_of(w, lane)];
}

// Completes the copies of the groups before `end`.
void complete_before(warp& w, thread_copies& copies, std::uint32_t end) {
  std::size_t completed = 0;
  while (completed < copies.pending.size() && copies.pending[completed].group < end) {
    complete(w, copies.pending[completed++]);
  }
  copies.pending.erase(copies.pending.begin(),
                       copies.pending.begin() + static_cast<std::ptrdiff_t>(completed));
}

}  // namespace

void run_copy(warp& w, const instruction& instr) {
  const std::uint32_t bytes = instr.flags & copy_flag::bytes;
  require_shared(w, instr, bytes);
  const auto sizes = sizes_of(w, instr, bytes);
  lane_mask whole = w.active, partial = 0;
  if (instr.flags & (copy_flag::has_predicate | copy_flag::has_size)) {
    for_each_lane(w.active, [&](int l) {
      const lane_mask lane = sizes[l] == bytes ? 0 : 1u << l;
      whole &= ~lane;
      if (sizes[l]) partial |= lane;
    });
  }
  host_addresses from{};
  instruction source = instr;
  source.flags = access_flag::global_only;
  find_sources(w, source, whole, bytes, from);
  for_each_lane(partial, [&](int l) { check_part(w, source, l, bytes, sizes[l]); });
  find_sources(w, source, partial, 1, from);
  const bool is_late = w.block->launch->options.copies_are_late;
  launch_checks* const checks = w.block->launch->checks;
  const bool is_checked = checks && checks->copies;
  if (!is_late && !is_checked && !partial) return complete_units(w, instr, whole, bytes, from);
  for_each_lane(w.active, [&](int l) {
    pending_copy copy{0, static_cast<std::uint8_t>(bytes), sizes[l], offset_of(w, instr, l),
                      from[l]};
    if (is_checked && sizes[l]) {
      checks->copies->add_source(w, instr, l, reinterpret_cast<const std::byte*>(from[l]),
                                 sizes[l]);
    }
    if (!is_late) return complete(w, copy);
    thread_copies& copies = copies_of(w, l);
    copy.group = copies.group;
    copies.pending.push_back(copy);
  });
}

// The copies of a lane complete, and then it arrives: at once, or when a thread tests the barrier.
void run_copy_arrive(warp& w, const instruction& instr) {
  if (!w.block->launch->options.copies_are_late) return run_phase_barrier(w, instr);
  for_each_lane(w.active, [&](int l) {
    bulk_copy late;
    late.barrier = shared_bytes_at(w, w.at<std::uint64_t>(instr.operand[4])[l], 8);
    if (!late.barrier) return run_phase_barrier(w, instr);  // raises the fault
    if (instr.flags & phase_flag::adds_pending) raise_pending(late.barrier);
    late.arrives = true;
    late.owner = &w.block->copies;
    late.lane = thread_of(w, l);
    for (const pending_copy& copy : copies_of(w, l).pending) add_pieces(late, w, copy);
    copies_of(w, l).pending.clear();
    w.block->cluster->copies.add(std::move(late));
  });
}

void run_commit_copies(warp& w, const instruction&) {
  if (!w.block->launch->options.copies_are_late) return;
  for_each_lane(w.active, [&](int l) { ++copies_of(w, l).group; });
}

void run_wait_copies(warp& w, const instruction& instr) {
  if (!w.block->launch->options.copies_are_late) return;
  for_each_lane(w.active, [&](int l) {
    // Copies that were left to an mbarrier may complete earlier.
    w.block->cluster->copies.complete_groups(&w.block->copies, thread_of(w, l), 1);
    thread_copies& copies = copies_of(w, l);
    if (instr.immediate < 0) return complete_before(w, copies, copies.group + 1);
    const auto allowed = static_cast<std::uint64_t>(instr.immediate);
    if (allowed < copies.group) {
      complete_before(w, copies, copies.group - static_cast<std::uint32_t>(allowed));
    }
  });
}

}  // namespace halfwarp::emulator::exec
