// SPDX-License-Identifier: Apache-2.0
// Describes races: both accesses, the memory, and what would order them.
#include "emulator/exec/check/race_checker.hpp"

#include <bit>

#include "emulator/exec/access.hpp"
#include "emulator/exec/check/init/init_checker.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

using race::cell;
using race::cell_kind;
using race::conflict;
using race::scope;

report::access_kind access_of(memory_use use) {
  if (use == memory_use::load) return report::access_kind::load;
  return use == memory_use::store ? report::access_kind::store : report::access_kind::atomic;
}

const char* text_of(conflict kind) {
  switch (kind) {
    case conflict::write_write:
      return "write-write";
    case conflict::write_read:
      return "write-read";
    case conflict::proxies:
      return "store and asynchronous copy";
    case conflict::read_write:
      break;
  }
  return "read-write";
}

std::string line_of(const report::earlier_access& access) {
  if (access.source_line) return " after line " + std::to_string(access.source_line);
  return " after PTX line " + std::to_string(access.ptx_line);
}

}  // namespace

report::earlier_access race_checker::describe(cell access, lane_mask lanes) const {
  const std::uint32_t number = order_.segments.block_of(access.segment());
  const std::uint32_t warp = order_.segments.warp_of(access.segment());
  const lane_mask named = race::lanes_named(access.lane());
  const auto lane =
      static_cast<std::uint32_t>(std::countr_zero(named & lanes ? named & lanes : named));
  const race_site& site = sites_[access.site()];
  const extent &grid = launch_.request.grid, &block = launch_.request.block;
  const std::uint32_t thread = warp * warp_size + lane;
  report::fault place;
  set_source(place, *launch_.request.entry->owner().source, *site.function->source,
             site.at->source);
  report::earlier_access result;
  result.access = access_of(site.shape.use);
  result.block_index = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
  result.thread = {thread % block.x, thread / block.x % block.y, thread / block.x / block.y};
  result.ptx_line = place.ptx_line;
  result.source_file = place.source_file;
  result.source_line = place.source_line;
  result.instruction = place.instruction;
  return result;
}

namespace {

std::string hint_for(const report::fault& f, const report::earlier_access& first, bool is_scoped,
                     bool is_same_warp) {
  if (is_scoped) {
    return "the scope .cta of an access, and .cluster without clusters, includes only its own "
           "block: use the scope .gpu, for instance atomicAdd instead of atomicAdd_block";
  }
  if (first.block_index != f.block_index) {
    return "no order is between the two blocks: atomics with fences, a grid barrier or another "
           "launch would order them";
  }
  if (is_same_warp) {
    return "the lanes of a warp do not run in lock step: __syncwarp()" + line_of(first) +
           " would order them";
  }
  return "no barrier of the block is between them: __syncthreads()" + line_of(first) +
         " would order them";
}

}  // namespace

void race_checker::add_finding(const finding_key& key, std::optional<cell> first,
                               std::uint32_t lane) {
  if (const auto known = findings_.find(key); known != findings_.end()) {
    ++known->second.count;
    return;
  }
  if (findings_.size() >= max_findings) return;
  const warp& w = *now_.view;
  report::fault f = describe_fault(w, *now_.instr, static_cast<int>(lane));
  const shared_word& word = now_.words[lane];
  f.kind = report::fault_kind::race;
  f.access = access_of(now_.site->shape.use);
  f.bytes = now_.site->shape.bytes;
  f.space = word.is_shared ? report::memory_space::shared : report::memory_space::global;
  f.address = word.address;
  if (!word.is_shared) f.nearest = launch_.space.nearest(word.address);
  f.detail = text_of(std::get<0>(key));
  if (first && std::get<0>(key) == conflict::proxies) {
    f.access = report::access_kind::load;
    f.earlier = describe(*first);
    f.hint = "the copy reads by another proxy than the store: fence.proxy.async" +
             line_of(*f.earlier) + ", before the barrier that leads to the copy";
  } else if (first) {
    const bool is_warp = order_.segments.block_of(first->segment()) == order_of(w).number &&
                         order_.segments.warp_of(first->segment()) == w.index;
    f.earlier = describe(*first, is_warp ? ~(1u << lane) : all_lanes);
    const bool is_same_warp = is_warp && first->kind() != cell_kind::of_block;
    const bool is_scoped = first->access_scope() == scope::cta || now_.site->reach == scope::cta;
    f.hint = first->access_scope() != scope::weak && has_other_width(*first)
                 ? "atomic accesses of different widths do not exclude each other: use one width"
                 : hint_for(f, *f.earlier, is_scoped && f.earlier->block_index != f.block_index,
                            is_same_warp);
  } else {
    f.hint =
        "one instruction stores different values to one address, and any of them may remain: "
        "let one thread store, or use an atomic operation";
  }
  findings_.emplace(key, std::move(f));
}

// Shared memory is left out: its host address belongs to no device.
report::launch_writes race_checker::writes(const init_checker* definedness) const {
  report::launch_writes result;
  const auto& request = launch_.request;
  result.kernel = request.entry->name();
  result.grid = {request.grid.x, request.grid.y, request.grid.z};
  result.block = {request.block.x, request.block.y, request.block.z};
  std::map<std::uint32_t, std::uint32_t> place_of;  // by site
  std::uint32_t last_site = ~0u, place = 0;
  const memory::address_space& space = launch_.space;
  const auto device = static_cast<int>(launch_.request.entry->owner().device);
  const memory::address base = space.device_arena_base(device);
  const auto host = reinterpret_cast<std::uint64_t>(space.view(base));
  shadow_.each_writer([&](std::uint64_t at, std::uint32_t bytes, cell writer) {
    if (at - host >= memory::arena_bytes) return;
    if (writer.site() != last_site) {
      last_site = writer.site();
      const auto next = static_cast<std::uint32_t>(result.places.size());
      const auto [known, is_new] = place_of.try_emplace(last_site, next);
      if (is_new) {
        result.places.push_back(describe(writer));
        if (definedness) result.places.back().unwritten = definedness->source_of(last_site);
      }
      place = known->second;
    }
    const auto lane = std::countr_zero(race::lanes_named(writer.lane()));
    const std::uint32_t thread =
        order_.segments.warp_of(writer.segment()) * warp_size + static_cast<std::uint32_t>(lane);
    const report::launch_writes::entry added{
        at - host + base, bytes, order_.segments.block_of(writer.segment()),
        thread,           place, writer.kind() == cell_kind::run};
    if (result.entries.empty() || !result.entries.back().extend(added)) {
      result.entries.push_back(added);
    }
  });
  return result;
}

std::vector<report::fault> race_checker::findings() const {
  std::vector<report::fault> all;
  for (const auto& [key, finding] : findings_) all.push_back(finding);
  return all;
}

}  // namespace halfwarp::emulator::exec
