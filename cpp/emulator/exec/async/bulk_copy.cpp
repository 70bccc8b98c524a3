// SPDX-License-Identifier: Apache-2.0
// Bulk copies of ranges, their groups, and asynchronous stores of registers.
#include <algorithm>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/async/bulk_start.hpp"
#include "emulator/exec/check/launch_checks.hpp"
#include "emulator/exec/check/race_checker.hpp"
#include "emulator/exec/each_lane.hpp"

namespace halfwarp::emulator::exec {
namespace {

using report::access_kind;
using report::fault_kind;

constexpr std::uint32_t unit = 16;  // of sizes and addresses

std::uint64_t value64(warp& w, operand_slot slot, int lane) {
  return w.at<std::uint64_t>(slot)[lane];
}

void require_units(warp& w, const instruction& instr, int lane, std::uint64_t from,
                   std::uint64_t to, std::uint32_t bytes) {
  const char* const name = bytes % unit  ? "size"
                           : from % unit ? "source"
                           : to % unit   ? "target"
                                         : nullptr;
  if (!name) return;
  raise_copy(w, instr, lane, fault_kind::misaligned,
             "the " + std::string{name} + " of a bulk copy of " + std::to_string(bytes) +
                 " bytes is no multiple of 16",
             "align both addresses and the size to 16 bytes");
}

// Adds one piece, or one for each byte that the mask selects.
void add_range(warp& w, const bulk_site& site, int lane, bulk_copy& copy, bulk_piece whole) {
  if (!site.has_mask || site.direction != bulk_direction::shared_to_global) {
    return copy.pieces.push_back(whole);
  }
  const std::uint32_t mask = w.at<std::uint32_t>(site.mask)[lane];
  for (std::uint32_t i = 0; i < whole.bytes; ++i) {
    if (mask >> i % unit & 1) copy.pieces.push_back({whole.from + i, whole.to + i, 1});
  }
}

void start_range(warp& w, const instruction& instr, int lane) {
  const bulk_site& site = bulk_of(w, instr);
  const std::uint64_t from = value64(w, site.from, lane);
  const std::uint32_t bytes = w.at<std::uint32_t>(site.bytes)[lane];
  const bool is_prefetch = site.direction == bulk_direction::prefetch;
  const std::uint64_t to = is_prefetch ? 0 : value64(w, site.to, lane);
  require_units(w, instr, lane, from, to, bytes);
  if (bytes == 0) return;
  const bool is_from_global = is_prefetch || site.direction == bulk_direction::global_to_shared;
  const std::byte* const source =
      is_from_global ? locate_bytes(w, instr, lane, from, {access_kind::load, bytes})
                     : shared_range(w, instr, lane, from, bytes, access_kind::load);
  if (is_prefetch) return;
  bulk_copy copy;
  copy.operation = site.reduce;
  if (site.direction == bulk_direction::shared_to_global) {
    std::byte* const target = locate_bytes(w, instr, lane, to, {access_kind::store, bytes});
    add_range(w, site, lane, copy, {source, target, bytes});
    return start_in_group(w, instr, lane, std::move(copy));
  }
  for (const bulk_target& target : targets_of(w, instr, lane)) {
    bulk_copy each = copy;
    each.pieces.push_back(
        {source, shared_range(w, instr, lane, target.to, bytes, access_kind::store), bytes});
    start_to_barrier(w, instr, lane, target, bytes, std::move(each));
  }
}

std::uint32_t& open_group(warp& w, int lane) {
  auto& groups = w.block->bulk_groups;
  if (groups.empty()) groups.resize(w.block->warps.size() * warp_size);
  return groups[w.index * warp_size + static_cast<std::uint32_t>(lane)];
}

}  // namespace

const bulk_site& bulk_of(const warp& w, const instruction& instr) noexcept {
  return w.function->bulks[instr.target];
}

void raise_copy(warp& w, const instruction& instr, int lane, fault_kind kind, std::string detail,
                std::string hint) {
  report::fault f = describe_fault(w, instr, lane);
  f.kind = kind;
  f.detail = std::move(detail);
  f.hint = std::move(hint);
  throw kernel_fault{f};
}

std::vector<bulk_target> targets_of(warp& w, const instruction& instr, int lane) {
  const bulk_site& site = bulk_of(w, instr);
  const bulk_target own{value64(w, site.to, lane), value64(w, site.barrier, lane)};
  if (!site.has_mask && !site.is_for_cluster) return {own};
  const std::size_t blocks = w.block->cluster->blocks.size();
  const std::uint32_t mask =
      site.is_for_cluster ? (1u << blocks) - 1 : w.at<std::uint32_t>(site.mask)[lane] & 0xffff;
  std::vector<bulk_target> targets;
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    if (!(mask >> rank & 1)) continue;
    if (rank >= blocks) {
      raise_copy(w, instr, lane, fault_kind::out_of_bounds,
                 "the mask of the copy has block " + std::to_string(rank) + ", and the cluster " +
                     std::to_string(blocks) + " blocks",
                 "set the bits of the cluster's ranks alone");
    }
    const std::uint64_t window = (std::uint64_t{rank} + 1) << cluster_rank_shift;
    targets.push_back({window | (own.to & (block_window_bytes - 1)),
                       window | (own.barrier & (block_window_bytes - 1))});
  }
  return targets;
}

std::byte* shared_range(warp& w, const instruction& instr, int lane, std::uint64_t offset,
                        std::uint32_t bytes, access_kind kind) {
  if (std::byte* const range = shared_bytes_at(w, offset, bytes)) return range;
  report::fault f = describe_fault(w, instr, lane);
  f.kind = fault_kind::out_of_bounds;
  f.access = kind;
  f.bytes = bytes;
  f.address = offset;
  f.space = report::memory_space::shared;
  f.detail = describe_shared(w, offset);
  f.hint = "compare the size of the copy with the shared memory that follows its address";
  throw kernel_fault{f};
}

void start_to_barrier(warp& w, const instruction& instr, int lane, const bulk_target& target,
                      std::uint32_t bytes, bulk_copy copy) {
  constexpr std::uint32_t barrier_bytes = 8;
  std::uint64_t to = target.to, barrier = target.barrier;
  copy.barrier = shared_range(w, instr, lane, barrier, barrier_bytes, access_kind::atomic);
  if (block_at(*w.block, to) != block_at(*w.block, barrier) || barrier % barrier_bytes) {
    raise_copy(w, instr, lane, fault_kind::wrong_space,
               "the mbarrier of the copy is in another block than its target, or not aligned",
               "map both addresses to the same block");
  }
  copy.bytes = bytes;
  if (auto* const races = w.block->launch->races) {
    const auto by = static_cast<std::uint32_t>(lane);
    for (const bulk_piece& piece : copy.pieces) {
      races->record_copy(w, instr, by, piece.to, piece.bytes);
    }
    races->signal_copy(w, by, copy.barrier);
  }
  if (!w.block->launch->options.copies_are_late) return copy.run();
  w.block->cluster->copies.add(std::move(copy));
}

void start_in_group(warp& w, const instruction& instr, int lane, bulk_copy copy) {
  if (auto* const races = w.block->launch->races) {
    for (const bulk_piece& piece : copy.pieces) {
      races->record_source(w, instr, static_cast<std::uint32_t>(lane), piece.from, piece.bytes);
    }
  }
  if (launch_checks* const checks = w.block->launch->checks; checks && checks->copies) {
    for (const bulk_piece& piece : copy.pieces) {
      checks->copies->add_source(w, instr, lane, piece.from, piece.bytes);
    }
  }
  if (!w.block->launch->options.copies_are_late) return copy.run();
  copy.group = open_group(w, lane);
  copy.owner = &w.block->bulk_groups;
  copy.lane = w.index * warp_size + static_cast<std::uint32_t>(lane);
  w.block->cluster->copies.add(std::move(copy));
}

void run_bulk_copy(warp& w, const instruction& instr) {
  for_each_lane(w.active, [&](int lane) { start_range(w, instr, lane); });
}

void run_commit_bulk(warp& w, const instruction&) {
  if (!w.block->launch->options.copies_are_late) return;
  for_each_lane(w.active, [&](int lane) { ++open_group(w, lane); });
}

void run_wait_bulk(warp& w, const instruction& instr) {
  if (!w.block->launch->options.copies_are_late) return;
  for_each_lane(w.active, [&](int lane) {
    const std::uint32_t group = open_group(w, lane);
    const auto allowed = static_cast<std::uint64_t>(instr.immediate);
    if (allowed >= group) return;
    w.block->cluster->copies.complete_groups(&w.block->bulk_groups,
                                             w.index * warp_size + static_cast<std::uint32_t>(lane),
                                             group - static_cast<std::uint32_t>(allowed));
  });
}

void run_clear_range(warp& w, const instruction& instr) {
  constexpr std::uint64_t word = 8;
  for_each_lane(w.active, [&](int lane) {
    const std::uint64_t to = value64(w, instr.operand[4], lane);
    const std::uint64_t bytes = value64(w, instr.operand[1], lane);
    if (to % word || bytes % word) {
      raise_copy(w, instr, lane, fault_kind::misaligned,
                 "the address or the size of st.bulk is no multiple of 8",
                 "align the target and the size to 8 bytes");
    }
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, ~0u));
    std::memset(shared_range(w, instr, lane, to, size, access_kind::store), 0, size);
  });
}

void run_async_store(warp& w, const instruction& instr) {
  const std::uint32_t count = instr.flags & access_flag::count, size = instr.flags >> 8;
  const operand_slot values[] = {instr.operand[0], instr.operand[1], instr.operand[2],
                                 static_cast<operand_slot>(instr.target)};
  for_each_lane(w.active, [&](int lane) {
    const bulk_target target{value64(w, instr.operand[4], lane),
                             value64(w, instr.operand[3], lane)};
    bulk_copy copy;
    copy.operation = reinterpret_cast<element_operation>(instr.immediate);
    copy.contents = std::make_shared<std::byte[]>(count * size);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::memcpy(copy.contents.get() + i * size, w.at<std::byte>(values[i]) + lane * size, size);
    }
    if (target.to % (count * size)) {
      raise_copy(w, instr, lane, fault_kind::misaligned,
                 "the address of the asynchronous store is no multiple of its size",
                 "align the target to the whole vector");
    }
    copy.pieces.push_back(
        {copy.contents.get(),
         shared_range(w, instr, lane, target.to, count * size, access_kind::store), count * size});
    start_to_barrier(w, instr, lane, target, count * size, std::move(copy));
  });
}

}  // namespace halfwarp::emulator::exec
