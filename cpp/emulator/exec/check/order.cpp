// SPDX-License-Identifier: Apache-2.0
// Segments, clocks and lists of readers.
#include "emulator/exec/check/order.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace halfwarp::emulator::exec::race {
namespace {

bool reaches(scope reach, bool is_same_block) {
  return reach > scope::cta || (reach == scope::cta && is_same_block);
}

void raise_to(std::uint32_t& value, std::uint32_t other) { value = std::max(value, other); }

std::shared_ptr<const clock> joined(const std::shared_ptr<const clock>& a,
                                    const std::shared_ptr<const clock>& b) {
  if (!b || b->is_empty() || a == b) return a;
  if (!a || a->is_empty()) return b;
  auto both = std::make_shared<clock>(*a);
  both->join(*b);
  return both;
}

}  // namespace

void known_warp::join(const known_warp& other) {
  raise_to(full, other.full);
  raise_to(self, other.self);
  reach = std::max(reach, other.reach);
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
    raise_to(now[lane], other.now[lane]);
    raise_to(strong_now[lane], other.strong_now[lane]);
  }
}

void clock::forget_if_large() {
  knows_all_ |= warps_.size() > max_warps;
  if (knows_all_) warps_.clear();
}

void clock::add(std::uint32_t block, const known_lane& entry) {
  known_warp& known = warps_[{block, entry.warp}];
  raise_to(known.full, entry.full);
  raise_to(known.self, entry.self);
  raise_to(known.now[entry.lane], entry.now);
  raise_to(known.strong_now[entry.lane], entry.strong_now);
  known.reach = std::max(known.reach, entry.reach);
  forget_if_large();
}

void clock::join(const clock& other) {
  knows_all_ |= other.knows_all_;
  for (const auto& [place, known] : other.warps_) warps_[place].join(known);
  forget_if_large();
}

void clock::join_within(const clock& other, scope reach, std::uint32_t block) {
  knows_all_ |= other.knows_all_;
  for (const auto& [place, known] : other.warps_) {
    const scope common = std::min(known.reach, reach);
    if (!reaches(common, place.first == block)) continue;
    known_warp& mine = warps_[place];
    const scope before = mine.reach;
    mine.join(known);
    mine.reach = std::max(before, common);
  }
  forget_if_large();
}

bool clock::is_ordered(std::uint32_t block, std::uint32_t warp, cell access) const {
  if (knows_all_) return true;
  const std::uint32_t segment = access.segment();
  // Any warp of the block may know all segments of the block up to a barrier.
  for (auto each = warps_.lower_bound({block, 0}); each != warps_.end(); ++each) {
    if (each->first.first != block) break;
    if (segment < each->second.full) return true;
  }
  const auto match = warps_.find({block, warp});
  if (match == warps_.end() || access.kind() == cell_kind::of_block) return false;
  const known_warp& known = match->second;
  if (segment < known.self) return true;
  const auto& now = access.access_scope() == scope::weak ? known.now : known.strong_now;
  const std::uint32_t lanes = lanes_named(access.lane());
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
    if ((lanes >> lane & 1) && segment > now[lane]) return false;
  }
  return true;
}

cell reader_sets::with(cell readers, cell added) {
  auto [place, is_new] = created_.try_emplace({readers.bits(), added.bits()}, readers);
  if (!is_new) return place->second;
  bool is_known = false;
  each(readers, [&](cell each) { is_known |= each.is_same_access(added); });
  if (is_known) return readers;
  const bool is_set = readers.kind() == cell_kind::set;
  const scope least = std::min(readers.access_scope(), added.access_scope());
  std::uint32_t parent = readers.node();
  if (!is_set) {
    parent = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({readers, 0, 1});
  }
  if (nodes_[parent].depth >= max_depth || nodes_.size() >= max_nodes) {
    return place->second = cell{added.segment(), cell_kind::of_grid, least, 0, added.site()};
  }
  nodes_.push_back({added, parent, nodes_[parent].depth + 1});
  const std::uint32_t newest = std::max(readers.segment(), added.segment());
  return place->second = cell::of_set(newest, least, static_cast<std::uint32_t>(nodes_.size() - 1));
}

phases::phases(std::uint32_t warps_per_block)
    : shift_{static_cast<std::uint32_t>(std::bit_width(warps_per_block - 1))},
      mask_{(1u << shift_) - 1} {}

std::uint32_t phases::next(std::uint32_t block) {
  blocks_.push_back(block);
  return next_ += mask_ + 1;
}

void block_order::arrivals::reset(std::uint32_t warps) {
  if (!is_used) return;
  waiting.assign(warps, 0);
  passing.assign(warps, 0);
  released.assign(warps, 0);
  is_used = false;
}

void launch_order::begin(block_order& block, std::uint32_t number, std::uint32_t warps) {
  block.number = number;
  block.first = segments.next(number);
  block.warps.resize(warps);
  for (std::uint32_t i = 0; i < warps; ++i) {
    warp_order& w = block.warps[i];
    if (is_exact || w.acquired || w.fenced) w = {};
    w.segment = block.first + i;
    w.full = w.self = block.first;
    w.warps.clear();
    w.lanes.clear();
  }
  for (block_order::arrivals& each : block.barriers) each.reset(warps);
}

// A fence of each warp before a barrier serves a strong write of any warp after it, as programs
// assume that let one thread of a block signal for all. What any warp observed before the barrier,
// a fence of any warp after it acquires: all threads of the last block call __threadfence().
void launch_order::synchronize(block_order& block) {
  const std::uint32_t start = segments.next(block.number);
  std::shared_ptr<const clock> all;
  clock observed;
  scope common = scope::sys;
  for (const warp_order& w : block.warps) {
    if (!w.pending.is_empty()) observed.join(w.pending);
    if (w.acquired) all = joined(all, w.acquired);
    common = std::min(common, w.fenced >= w.full ? w.fence_scope : scope::weak);
  }
  for (std::uint32_t i = 0; i < block.warps.size(); ++i) {
    warp_order& w = block.warps[i];
    w.segment = start + i;
    w.full = w.self = start;
    if (w.acquired != all) w.acquired = all;
    if (!observed.is_empty()) w.pending = observed;
    w.warps.clear();
    w.lanes.clear();
    if (common == scope::weak) continue;
    w.fenced = w.fence_full = w.fence_self = start;
    w.fence_scope = common;
  }
}

void launch_order::pass(block_order& block, block_order::arrivals& by, std::uint32_t warp) {
  start_segment(block, block.warps[warp], warp);
  by.released[warp] = block.warps[warp].segment;
}

void launch_order::synchronize(block_order& block, const block_order::arrivals& by) {
  const std::uint32_t start = segments.next(block.number);
  std::vector<std::uint32_t> newest(block.warps.size(), block.first);
  std::shared_ptr<const clock> all;
  for (std::uint32_t i = 0; i < block.warps.size(); ++i) {
    if (!(by.waiting[i] | by.passing[i])) continue;
    const warp_order& w = block.warps[i];
    for (std::uint32_t j = 0; j < w.warps.size(); ++j) raise_to(newest[j], w.warps[j]);
    for (std::uint32_t& each : newest) raise_to(each, w.full);
    raise_to(newest[i], by.waiting[i] ? start : by.released[i]);
    all = joined(all, w.acquired);
  }
  for (std::uint32_t i = 0; i < block.warps.size(); ++i) {
    warp_order& w = block.warps[i];
    if (!(by.waiting[i] | by.passing[i])) continue;
    w.segment = start + i;
    if (!by.waiting[i]) continue;  // bar.arrive releases only
    w.warps = newest;
    w.self = start;
    w.lanes.clear();
    w.acquired = joined(w.acquired, all);
  }
}

void launch_order::synchronize(block_order& block, std::uint32_t warp, lane_mask lanes,
                               lane_mask live) {
  warp_order& w = block.warps[warp];
  start_segment(block, w, warp);
  const std::uint32_t start = w.segment;
  if ((lanes & live) == live) {
    w.self = start;
    w.lanes.clear();
    return;
  }
  if (w.lanes.empty()) w.lanes.assign(std::size_t{warp_size} * warp_size, w.self);
  std::array<std::uint32_t, warp_size> row{};
  for (lane_mask each = lanes; each; each &= each - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(each));
    for (std::uint32_t i = 0; i < warp_size; ++i) {
      raise_to(row[i], lanes >> i & 1 ? start : w.lanes[lane * warp_size + i]);
    }
  }
  for (lane_mask each = lanes; each; each &= each - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(each));
    std::memcpy(&w.lanes[std::size_t{lane} * warp_size], row.data(), sizeof(row));
  }
}

void launch_order::start_segment(const block_order& block, warp_order& w, std::uint32_t warp) {
  w.segment = segments.next(block.number) + warp;
}

void launch_order::fence(block_order& block, std::uint32_t warp, scope reach) {
  warp_order& w = block.warps[warp];
  if (!w.pending.is_empty()) {
    auto all = w.acquired ? std::make_shared<clock>(*w.acquired) : std::make_shared<clock>();
    all->join_within(w.pending, reach, block.number);
    w.acquired = std::move(all);
    w.pending = {};
  }
  w.fenced = w.segment;
  w.fence_scope = reach;
  w.fence_full = w.full;
  w.fence_self = w.self;
  start_segment(block, w, warp);
}

void launch_order::release(block_order& block, std::uint32_t warp, std::uint32_t lane,
                           std::uint64_t address, scope reach, bool is_update) {
  const warp_order& w = block.warps[warp];
  clock& to = released_[address];
  if (!is_update) to = {};
  known_lane entry{warp, lane, 0, 0, 0, w.segment, reach};
  const scope common = std::min(reach, w.fence_scope);
  if (common != scope::weak) {
    if (w.acquired) to.join(*w.acquired);
    entry = {warp, lane, w.fence_full, w.fence_self, w.fenced, w.segment, common};
  }
  to.add(block.number, entry);
}

void launch_order::acquire(block_order& block, std::uint32_t warp, std::uint64_t address,
                           scope reach) {
  const auto match = released_.find(address);
  if (match == released_.end()) return;
  block.warps[warp].pending.join_within(match->second, reach, block.number);
}

}  // namespace halfwarp::emulator::exec::race
