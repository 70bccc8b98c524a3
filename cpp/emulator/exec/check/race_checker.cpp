// SPDX-License-Identifier: Apache-2.0
// Compares the accesses of warps with the shadow, and records what they order.
#include "emulator/exec/check/race_checker.hpp"

#include <bit>

#include "emulator/exec/async/async.hpp"
#include "emulator/exec/matrix/warpgroup.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/cluster.hpp"

namespace halfwarp::emulator::exec {
namespace {

using race::cell;
using race::cell_kind;
using race::scope;
using pattern = warp_access::pattern;

std::uint32_t first_lane(lane_mask lanes) {
  return static_cast<std::uint32_t>(std::countr_zero(lanes));
}

template <class Visitor>
void each_lane(lane_mask lanes, Visitor&& visit) {
  for (; lanes; lanes &= lanes - 1) visit(first_lane(lanes));
}

// Returns the value that a lane stores, truncated to its width in memory.
std::uint64_t stored_value(warp& w, operand_slot source, const access_shape& shape,
                           std::uint32_t lane) {
  const std::uint64_t value =
      read_register(w, source, static_cast<int>(lane), shape.register_bytes);
  return shape.bytes == 8 ? value : value & ((std::uint64_t{1} << 8 * shape.bytes) - 1);
}

bool is_exact(const launch_state& launch, const std::vector<race_site>& sites) {
  return launch.request.is_cooperative ||
         std::any_of(sites.begin(), sites.end(), orders_some_threads);
}

}  // namespace

race_checker::race_checker(const launch_state& launch, const launch_sites& sites)
    : launch_{launch},
      positions_{sites},
      sites_{sites.all},
      order_{launch.warps_per_block, is_exact(launch, sites_)} {}

void race_checker::begin(const block_state& block) {
  last_block_ = nullptr;
  race::block_order& order = blocks_[&block];
  order_.begin(order, static_cast<std::uint32_t>(block.number), launch_.warps_per_block);
  if (launch_.request.cluster.count() == 1) return;
  order.cluster_first = blocks_.at(block.cluster->blocks[0]).first;
}

const race_site& race_checker::site_of(const warp& w, const instruction& instr) const {
  const auto index = static_cast<std::size_t>(&instr - w.function->code.data());
  return sites_[positions_.first_of(launch_, *w.function) + index];
}

std::uint32_t race_checker::number_of(const race_site& site) const {
  return static_cast<std::uint32_t>(&site - sites_.data());
}

void race_checker::record(const warp_access& access) {
  if (order_.segments.is_exhausted()) return;
  switch (access.site.use) {
    case race_site::role::none:
    case race_site::role::copy:
      return;
    case race_site::role::fence:
      return record_fence(access);
    case race_site::role::phase_barrier:
      return record_phase(access);
    case race_site::role::access:
      return record_access(access);
    case race_site::role::rows:
    case race_site::role::warpgroup:
      if (access.lanes == all_lanes) record_matrix(access);
  }
}

bool race_checker::record(const warp_access& nearest, const load_group& group) {
  if (order_.segments.is_exhausted()) return false;
  race::accessor by = accessor_of(nearest.view, nearest.site, nearest.number);
  set_space(by, nearest.is_shared);
  const auto& [low, high] = nearest.halves;
  const std::uint64_t before = shadow_.changes();
  const bool is_of_words = low.kind == pattern::uniform && low.cell / 64 != high.cell / 64;
  if (is_of_words && shadow_.read_words(by, low.cell, 0, group) &&
      shadow_.read_words(by, high.cell, half_warp, group)) {
    return false;
  }
  const bool is_of_lines = low.kind == pattern::run && low.cell == high.cell && by.is_shared;
  if (is_of_lines && shadow_.read_lines(by, low.cell, group)) return shadow_.changes() == before;
  for (const following_load& load : group.loads) {
    const race_site& site = sites_[load.site];
    warp_access access{nearest.view, *site.at,          site,          load.site, all_lanes, 4,
                       true,         nearest.is_shared, nearest.halves};
    for (warp_access::half& each : access.halves) {
      each.address += load.distance - group.nearest;
      each.cell += load.distance - group.nearest;
    }
    if (!pass(access)) record_access(access);
  }
  return shadow_.changes() == before;
}

void race_checker::record_fence(const warp_access& access) {
  race::block_order& block = order_of(access.view);
  race::warp_order& w = block.warps[access.view.index];
  order_.fence(block, access.view.index, access.site.reach);
  if (!access.site.is_between_proxies) return;
  w.proxied = w.segment;
  w.proxied_warps = w.warps;
  w.proxied_clock = w.acquired;
  block.proxied = std::max(block.proxied, w.full);
}

// Arrivals release and tests acquire, as accesses of the block. An initialization is a plain store:
// it needs an order before the other accesses, which are strong.
void race_checker::record_phase(const warp_access& access) {
  warp& w = access.view;
  const instruction& instr = access.instr;
  race::block_order& block = order_of(w);
  const auto operation = static_cast<phase_operation>(instr.immediate);
  // CCCL's pipelines invalidate after a relaxed count of the threads, so that is no access.
  if (operation == phase_operation::invalidate || operation == phase_operation::pending_count) {
    return;
  }
  const std::uint64_t* offset = w.at<std::uint64_t>(instr.operand[4]);
  const bool is_test =
      operation == phase_operation::test || operation == phase_operation::test_parity;
  const bool is_plain = operation == phase_operation::init;
  now_ = {&w, &instr, &access.site};
  now_.lanes = access.lanes;
  race::accessor by = accessor_of(w, access.site, access.number);
  by.mine = cell{by.mine.segment(), cell_kind::one, is_plain ? scope::weak : scope::sys, 0,
                 static_cast<std::uint32_t>(access.number)};
  by.is_write = !is_test;
  set_space(by, true);
  each_lane(access.lanes, [&](std::uint32_t lane) {
    const auto at = reinterpret_cast<std::uint64_t>(shared_bytes_at(w, offset[lane], 8));
    now_.words[lane] = {at, offset[lane], true};
    if (at) shadow_.access(by, at, 4, lane);
  });
  if (is_plain) return;
  // A copy of another block of the cluster signals a test of any scope.
  const scope reach = is_test && block.cluster_first ? scope::gpu : access.site.reach;
  if (!is_test) order_.fence(block, w.index, reach);
  std::uint64_t last = 0;
  each_lane(access.lanes, [&](std::uint32_t lane) {
    const auto address = reinterpret_cast<std::uint64_t>(shared_bytes_at(w, offset[lane], 8));
    if (is_test) {
      if (address != last) order_.acquire(block, w.index, address, reach);
      last = address;
    } else {
      order_.release(block, w.index, lane, address, reach, true);
    }
  });
  if (is_test) order_.fence(block, w.index, reach);
}

void race_checker::record_access(const warp_access& access) {
  warp& w = access.view;
  const race_site& site = access.site;
  now_.view = &w;
  now_.instr = &access.instr;
  now_.site = &site;
  now_.element = 0;
  if (compare_halves(access)) return;
  race::block_order& block = order_of(w);
  if (site.releases) order_.fence(block, w.index, site.reach);
  for (std::uint32_t n = 0; n < elements_of(access.instr, site.shape); ++n) {
    now_.element = n;
    locate(access.lanes);
    compare();
    if (site.reach != scope::weak && order_.is_exact) record_order(block);
  }
  if (site.acquires) order_.fence(block, w.index, site.reach);
}

// Compares words in the order of their lanes, or one word that lanes read. Returns false, without a
// comparison, for other accesses.
bool race_checker::compare_halves(const warp_access& access) {
  if (!has_halves(access)) return false;
  now_.lanes = access.lanes;
  now_.is_located = false;
  race::accessor by = accessor_of(access.view, access.site, access.number);
  set_space(by, access.is_shared);
  std::uint32_t first = 0;
  for (const warp_access::half& each : access.halves) {
    if (each.kind == pattern::run) shadow_.access_half(by, each.cell, first);
    if (each.kind == pattern::uniform) shadow_.read_uniform(by, each.cell, first);
    first += half_warp;
  }
  return true;
}

// Divides the units of 16 bytes that a warp accesses into words of lanes.
void race_checker::record_matrix(const warp_access& access) {
  constexpr std::uint32_t words_per_unit = 4;
  warp& w = access.view;
  now_ = {&w, &access.instr, &access.site};
  const bool has_rows = access.site.use == race_site::role::rows;
  const std::vector<std::uint64_t> units =
      has_rows ? row_units(w, access.instr) : warpgroup_units(w, access.instr);
  const std::uint64_t shared = reinterpret_cast<std::uint64_t>(w.shared);
  for (std::size_t first = 0; first < units.size(); first += warp_size / words_per_unit) {
    now_.lanes = 0;
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      const std::size_t n = first + lane / words_per_unit;
      if (n >= units.size()) break;
      const std::uint64_t at = units[n] + 4 * (lane % words_per_unit);
      now_.words[lane] = {shared + at, at, true};
      now_.lanes |= 1u << lane;
    }
    compare();
  }
}

void race_checker::record_copy(warp& w, const instruction& instr, std::uint32_t lane,
                               const std::byte* to, std::uint32_t bytes) {
  if (order_.segments.is_exhausted()) return;
  const std::byte* const own = w.shared;
  const bool is_own = to >= own && to < own + w.shared_bytes;
  now_ = {&w, &instr, &site_of(w, instr)};
  now_.lanes = 1u << lane;
  race::accessor by = accessor_of(w, *now_.site, number_of(*now_.site));
  by.is_write = true;
  set_space(by, true);
  for (std::uint32_t done = 0; done < bytes; done += 4) {
    const auto cell = reinterpret_cast<std::uint64_t>(to + done);
    const std::uint64_t offset = is_own ? static_cast<std::uint64_t>(to + done - own) : 0;
    now_.words[lane] = {cell, offset, true};
    shadow_.access(by, cell, std::min(bytes - done, 4u), lane);
  }
}

// Generic stores need a fence between proxies, in their warp or after a barrier, before the copy.
void race_checker::record_source(warp& w, const instruction& instr, std::uint32_t lane,
                                 const std::byte* from, std::uint32_t bytes) {
  const bool is_own = from >= w.shared && from < w.shared + w.shared_bytes;
  if (order_.segments.is_exhausted() || !is_own) return;
  const race::block_order& block = order_of(w);
  now_ = {&w, &instr, &site_of(w, instr)};
  now_.lanes = 1u << lane;
  for (std::uint32_t done = 0; done < bytes; done += 4) {
    const auto address = reinterpret_cast<std::uint64_t>(from + done);
    const cell writer = shadow_.writer_of(address);
    const bool is_known = writer.kind() != cell_kind::split && writer.segment() >= block.first &&
                          order_.segments.block_of(writer.segment()) == block.number;
    if (!is_known || is_proxied(block, w, writer)) continue;
    const race_site::role by = sites_[writer.site()].use;
    if (by != race_site::role::access && by != race_site::role::rows) continue;
    now_.words[lane] = {address, static_cast<std::uint64_t>(from + done - w.shared), true};
    const race::conflict kind = race::conflict::proxies;
    return add_finding({kind, writer.site(), number_of(*now_.site)}, writer, lane);
  }
}

bool race_checker::is_proxied(const race::block_order& block, const warp& issuer,
                              cell writer) const {
  const std::uint32_t segment = writer.segment(), by = order_.segments.warp_of(segment);
  if (segment < std::max(block.warps[by].proxied, block.proxied)) return true;
  const race::warp_order& w = block.warps[issuer.index];
  if (!w.proxied_warps.empty() && segment < w.proxied_warps[by]) return true;
  return w.proxied_clock && w.proxied_clock->is_ordered(block.number, by, writer);
}

void race_checker::signal_copy(const warp& w, std::uint32_t lane, const std::byte* barrier) {
  race::block_order& block = order_of(w);
  order_.fence(block, w.index, scope::gpu);
  order_.release(block, w.index, lane, reinterpret_cast<std::uint64_t>(barrier), scope::gpu, true);
}

// Finds the host address of each lane's element. Leaves out local and inaccessible memory. Most
// accesses are in shared memory, or in the allocation that the instruction accessed last.
void race_checker::locate(lane_mask lanes) {
  const access_shape& shape = now_.site->shape;
  warp& w = *now_.view;
  const range_cache& cached = w.ranges[now_.instr->cache];
  const std::uint64_t shared = reinterpret_cast<std::uint64_t>(w.shared);
  const std::uint64_t displacement =
      static_cast<std::uint64_t>(now_.instr->immediate) + now_.element * shape.bytes;
  const std::uint64_t cached_bytes = cached.last < cached.first ? 0 : cached.last - cached.first;
  const auto fits = [&](std::uint64_t offset, std::uint64_t size) {
    return offset < size && size - offset >= shape.bytes;
  };
  now_.lanes = lanes;
  now_.is_located = true;
  each_lane(lanes, [&](std::uint32_t lane) {
    std::uint64_t at =
        read_address(w, now_.instr->operand[4], static_cast<int>(lane), shape.is_narrow) +
        displacement;
    if (shape.is_narrow) at = static_cast<std::uint32_t>(at);
    const std::uint64_t offset = at - cached.first;
    if (shape.is_shared && fits(at, w.shared_bytes)) {
      now_.words[lane] = {shared + at, at, true};
    } else if (!shape.is_shared && fits(offset, cached_bytes)) {
      now_.words[lane] = cached.is_shared ? shared_word{shared + offset, offset, true}
                                          : shared_word{at + cached.view_offset, at, false};
    } else if (const auto word =
                   word_of(w, *now_.instr, shape, static_cast<int>(lane), now_.element)) {
      now_.words[lane] = *word;
    } else {
      now_.lanes &= ~(1u << lane);
    }
  });
}

void race_checker::compare() {
  if (!now_.lanes) return;
  const memory_use use = now_.site->shape.use;
  if (use == memory_use::store) drop_equal_addresses();
  const bool is_write = use != memory_use::load;
  race::accessor by = accessor_of(*now_.view, *now_.site, number_of(*now_.site));
  for (std::uint32_t first = 0; first < warp_size; first += half_warp) {
    const lane_mask half = now_.lanes & lane_mask{0xffff} << first;
    if (!half || compare_half(by, first, half)) continue;
    each_lane(half, [&](std::uint32_t lane) {
      set_space(by, now_.words[lane].is_shared);
      by.is_write = is_write && !(use == memory_use::cas && is_failing_swap(lane));
      compare_lane(by, lane);
    });
  }
}

// Compares accesses of half a warp to words in order, or its reads of one word.
bool race_checker::compare_half(race::accessor& by, std::uint32_t first, lane_mask lanes) {
  const bool is_plain = now_.site->reach == scope::weak;
  if (lanes != lane_mask{0xffff} << first || now_.site->shape.bytes != 4 || !is_plain) return false;
  const std::uint64_t start = now_.words[first].cell;
  bool are_in_order = true, are_equal = true;
  for (std::uint32_t i = 0; i < half_warp; ++i) {
    const std::uint64_t cell = now_.words[first + i].cell;
    are_in_order &= cell == start + std::uint64_t{i} * 4;
    are_equal &= cell == start;
  }
  set_space(by, now_.words[first].is_shared);
  if (are_in_order) {
    shadow_.access_half(by, start, first);
  } else if (are_equal && !by.is_write) {
    shadow_.read_uniform(by, start, first);
  } else {
    return false;
  }
  return true;
}

void race_checker::compare_lane(race::accessor& by, std::uint32_t lane) {
  const shared_word& word = now_.words[lane];
  if (now_.site->reach != scope::weak && !by.is_write) {
    by.clocks().observed[word.cell] = shadow_.writer_of(word.cell);
  }
  for (std::uint32_t done = 0; done < now_.site->shape.bytes;) {
    const std::uint64_t at = word.cell + done;
    const auto in_word = static_cast<std::uint32_t>(4 - at % 4);
    const std::uint32_t bytes = std::min(now_.site->shape.bytes - done, in_word);
    shadow_.access(by, at, bytes, lane);
    done += bytes;
  }
}

// Removes lanes that store to the address of another lane by the same instruction: any value may
// remain. Different values are reported.
void race_checker::drop_equal_addresses() {
  const auto value_of = [&](std::uint32_t lane) {
    return stored_value(*now_.view, now_.instr->operand[now_.element], now_.site->shape, lane);
  };
  std::unordered_map<std::uint64_t, std::uint32_t> owners;
  std::uint64_t last = 0;
  bool is_ascending = true;
  each_lane(now_.lanes, [&](std::uint32_t lane) {
    is_ascending &= now_.words[lane].cell > last;
    last = now_.words[lane].cell;
  });
  if (is_ascending) return;
  each_lane(now_.lanes, [&](std::uint32_t lane) {
    const auto [owner, is_new] = owners.try_emplace(now_.words[lane].cell, lane);
    if (is_new) return;
    now_.lanes &= ~(1u << lane);
    if (value_of(lane) == value_of(owner->second)) return;
    const std::uint32_t site = number_of(*now_.site);
    add_finding({race::conflict::write_write, site, site}, {}, lane);
  });
}

// Records what strong accesses release and acquire. Updates do both.
void race_checker::record_order(race::block_order& block) {
  const memory_use use = now_.site->shape.use;
  std::uint64_t last = 0;
  each_lane(now_.lanes, [&](std::uint32_t lane) {
    const std::uint64_t address = now_.words[lane].cell;
    if (use != memory_use::store && address != last) {
      order_.acquire(block, now_.view->index, address, now_.site->reach);
    }
    last = address;
    const bool is_write =
        use != memory_use::load && !(use == memory_use::cas && is_failing_swap(lane));
    if (!is_write) return;
    order_.release(block, now_.view->index, lane, address, now_.site->reach,
                   use != memory_use::store);
  });
}

bool race_checker::is_failing_swap(std::uint32_t lane) {
  const access_shape& shape = now_.site->shape;
  return read_word(now_.words[lane].cell, shape.bytes) !=
         read_register(*now_.view, now_.instr->operand[1], static_cast<int>(lane), shape.bytes);
}

bool race_checker::stores_present_value(std::uint32_t lane) {
  const access_shape& shape = now_.site->shape;
  const bool is_in_register = shape.register_bytes != 0;
  if (shape.use != memory_use::store || !is_in_register || lane >= warp_size) return false;
  return read_word(now_.words[lane].cell, shape.bytes) ==
         stored_value(*now_.view, now_.instr->operand[now_.element], shape, lane);
}

// Halves of a word are left out, because an access of two halves is two accesses.
bool race_checker::has_other_width(cell first) const {
  const std::uint32_t before = sites_[first.site()].shape.bytes, now = now_.site->shape.bytes;
  return before != now && before >= 4 && now >= 4;
}

void race_checker::on_conflict(race::conflict kind, cell first, const race::accessor& by,
                               std::uint32_t lane, std::uint64_t address) {
  if (!launch_.options.check_races) return;
  if (!now_.is_located) locate(now_.lanes);
  if (kind == race::conflict::write_write && stores_present_value(lane)) return;
  if (first.access_scope() != scope::weak) {  // a strong load may have observed the write
    const auto& observed = by.clocks().observed;
    const auto match = observed.find(address);
    if (match != observed.end() && match->second == first) return;
  }
  const std::uint32_t other_lanes = race::lanes_named(lane) & ~race::lanes_named(first.lane());
  const std::uint32_t named = first_lane(other_lanes ? other_lanes : race::lanes_named(lane));
  add_finding({kind, first.site(), number_of(*now_.site)}, first, named);
}

void race_checker::arrive(const warp& w, std::uint32_t barrier, lane_mask lanes, bool waits) {
  race::block_order& block = order_of(w);
  race::block_order::arrivals& by = block.barriers[barrier];
  (waits ? by.waiting : by.passing)[w.index] |= lanes;
  by.is_used = true;
  if (!waits) order_.pass(block, by, w.index);
}

void race_checker::open(const block_state& block, std::uint32_t barrier) {
  race::block_order& order = blocks_.at(&block);
  race::block_order::arrivals& by = order.barriers[barrier];
  bool is_whole = true;
  for (std::uint32_t i = 0; i < block.warps.size(); ++i) {
    is_whole &= (block.warps[i].view.live & ~by.waiting[i]) == 0;
  }
  if (is_whole) {
    order_.synchronize(order);
  } else {
    order_.synchronize(order, by);
  }
  by.reset(static_cast<std::uint32_t>(block.warps.size()));
}

// A relaxed arrival releases only what precedes an earlier fence.
void race_checker::arrive_at_cluster(const warp& w, const instruction& instr, lane_mask lanes) {
  race::block_order& block = order_of(w);
  const auto address = reinterpret_cast<std::uint64_t>(w.block->cluster);
  const bool is_relaxed = has_qualifier(w, instr, ptx::qualifier::relaxed);
  if (!is_relaxed) order_.fence(block, w.index, scope::gpu);
  each_lane(lanes, [&](std::uint32_t lane) {
    order_.release(block, w.index, lane, address, scope::gpu, true);
  });
}

void race_checker::leave_cluster(const warp& w) {
  race::block_order& block = order_of(w);
  order_.acquire(block, w.index, reinterpret_cast<std::uint64_t>(w.block->cluster), scope::gpu);
  order_.fence(block, w.index, scope::gpu);
}

bool race_checker::has_qualifier(const warp& w, const instruction& instr, ptx::qualifier q) const {
  const auto& source = w.function->source->instructions;
  if (instr.source >= source.size()) return false;
  return launch_.request.entry->owner().source->mnemonic_of(source[instr.source]).has(q);
}

void race_checker::meet(const warp& w, const instruction& instr, lane_mask members) {
  const bool is_barrier = has_qualifier(w, instr, ptx::qualifier::warp);
  if (!is_barrier) return;  // shfl and vote order nothing in memory
  order_.synchronize(order_of(w), w.index, members, w.live);
}

}  // namespace halfwarp::emulator::exec
