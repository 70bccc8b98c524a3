// SPDX-License-Identifier: Apache-2.0
// Follows loads, stores, atomic operations and calls.
#include "emulator/exec/check/init/init_checker.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/exec/async/async.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/barrier.hpp"
#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/watch/access_shape.hpp"
#include "emulator/memory/written_bytes.hpp"

namespace halfwarp::emulator::exec {
namespace {

using memory::is_written;
using memory::unwritten;
using memory::written;

constexpr std::uint32_t line = 64;
constexpr std::uint32_t unknown_origin = 1u << 31;  // of a value that a function returned in memory

template <class Visitor>
void each_lane(lane_mask lanes, Visitor&& visit) {
  for (; lanes; lanes &= lanes - 1) visit(std::countr_zero(lanes));
}

std::vector<init_site> sites_of(const kernel_code& code) {
  std::vector<init_site> sites;
  for (const function_code& function : code.functions) {
    for (const instruction& instr : function.code) {
      sites.push_back(make_init_site(function, instr));
      sites.back().number = static_cast<std::uint32_t>(sites.size() - 1);
    }
  }
  return sites;
}

}  // namespace

init_checker::init_checker(const launch_state& launch, const launch_sites& sites)
    : launch_{launch}, positions_{sites}, sites_{sites_of(launch.code)} {}

const init_site& init_checker::site_of(const warp& w, const instruction& instr) const {
  const auto index = &instr - w.function->code.data();
  return sites_[positions_.first_of(launch_, *w.function) + static_cast<std::size_t>(index)];
}

void init_checker::begin(block_state& block) {
  std::erase_if(stored_, [&](const auto& each) {
    const auto is_within = [&](const auto& states) {
      return each.first * 4 - reinterpret_cast<std::uint64_t>(states.data()) < states.size();
    };
    return is_within(block.shared_states) || is_within(block.local_states);
  });
  // Other blocks of a cluster write shared memory too, which the check does not follow.
  const bool is_alone = launch_.request.cluster.count() == 1;
  block.shared_states.assign(launch_.shared_bytes, is_alone ? unwritten : written);
  std::fill(block.shared_states.begin() + launch_.reserved_shared, block.shared_states.end(),
            written);
  block.local_states.assign(block.local.size(), unwritten);
  const function_code& entry = launch_.code.functions.front();
  for (std::size_t at = entry.parameter_block; entry.parameter_block_bytes != 0;) {
    if (at >= block.local_states.size()) break;
    std::fill_n(block.local_states.begin() + static_cast<std::ptrdiff_t>(at),
                entry.parameter_block_bytes, written);
    at += launch_.stack_bytes;
  }
}

std::byte* init_checker::shared_state(const warp& w, std::uint64_t offset,
                                      std::uint32_t bytes) const {
  auto& states = w.block->shared_states;
  const bool fits = offset <= states.size() && states.size() - offset >= bytes;
  return fits ? states.data() + offset : nullptr;
}

std::byte* init_checker::local_state(const warp& w, int lane, std::uint64_t offset,
                                     std::uint32_t bytes) const {
  if (offset > w.local_stride || w.local_stride - offset < bytes) return nullptr;
  const auto first = static_cast<std::size_t>(w.local - w.block->local.data());
  const std::size_t at = first + static_cast<std::size_t>(lane) * w.local_stride + offset;
  auto& states = w.block->local_states;
  return at < states.size() ? states.data() + at : nullptr;  // null: a copy for a rehearsal
}

std::byte* init_checker::state_of(const warp& w, const init_site& site, std::uint64_t address,
                                  int lane, std::uint32_t bytes) const {
  const memory::address_space& space = launch_.space;
  if (site.space == value_space::shared) return shared_state(w, address, bytes);
  if (site.space == value_space::local) return local_state(w, lane, address, bytes);
  if (address - space.shared_window() < memory::window_bytes) {
    return shared_state(w, address - space.shared_window(), bytes);
  }
  if (address - space.local_window() < memory::window_bytes) {
    return local_state(w, lane, address - space.local_window(), bytes);
  }
  return space.states()->at(address);
}

std::uint64_t init_checker::address_of(warp& w, const init_site& site, int lane) const {
  const instruction& instr = *site.at;
  std::uint64_t at = read_address(w, instr.operand[4], lane, site.is_narrow) +
                     static_cast<std::uint64_t>(instr.immediate);
  if (site.is_narrow) at = static_cast<std::uint32_t>(at);
  const bool is_relative =
      site.space == value_space::local && (instr.flags & access_flag::frame_relative);
  return is_relative ? at + w.frame_base : at;
}

init_checker::lane_states init_checker::states_of(warp& w, const init_site& site, lane_mask lanes,
                                                  std::uint32_t bytes) const {
  lane_states result{};
  each_lane(lanes, [&](int l) { result[l] = state_of(w, site, address_of(w, site, l), l, bytes); });
  return result;
}

bool init_checker::is_always_followed(std::size_t number) const {
  switch (sites_[number].rule) {
    case value_rule::load:
    case value_rule::store:
    case value_rule::atomic:
    case value_rule::exchange_memory:
    case value_rule::copy_async:
    case value_rule::store_matrix:
    case value_rule::store_anywhere:
    case value_rule::shuffle:
      return true;
    default:
      return false;
  }
}

void init_checker::record(const warp_access& access) {
  warp& w = access.view;
  const lane_mask lanes = access.lanes;
  const init_site& site = sites_[access.number];
  switch (site.rule) {
    case value_rule::none:
      return;
    case value_rule::load:
      return load(w, site, lanes);
    case value_rule::store:
      return store(w, site, lanes);
    case value_rule::atomic:
    case value_rule::exchange_memory:
      return update(w, site, lanes);
    case value_rule::copy_async:
      return copy_async(w, site, lanes);
    case value_rule::store_matrix:
      return std::fill(w.block->shared_states.begin(), w.block->shared_states.end(), written);
    case value_rule::store_anywhere:
      return store_anywhere(w);
    case value_rule::forget:
      return w.current->undefined.reset();
    case value_rule::shuffle:
      return meet(w, *site.at, lanes);
    default:
      if (w.current->undefined) compute(w, site, lanes);
  }
}

void init_checker::load(warp& w, const init_site& site, lane_mask lanes) {
  const instruction& instr = *site.at;
  if (w.current->undefined) {
    use(w, site, instr.operand[4], site.is_narrow ? 4 : 8, lanes, "address of a load");
  }
  const std::uint32_t bytes = site.results * site.bytes;
  const lane_states states = states_of(w, site, lanes, bytes);
  bool are_written = true;
  each_lane(lanes, [&](int l) { are_written &= !states[l] || is_written(states[l], bytes); });
  if (are_written && !w.current->undefined) return;
  define(w, site, lanes);
  if (are_written) return;
  undefined_values& values = values_of(*w.current);
  const std::uint32_t from = note_origin(w, site, lanes, states, bytes);
  for (std::uint32_t n = 0; n < site.results; ++n) {
    const operand_slot slot = instr.operand[n];
    each_lane(lanes, [&](int l) {
      if (!states[l]) return;
      std::byte* to =
          values.registers.data() + slot + static_cast<std::size_t>(l) * site.result_bytes;
      const std::byte* state = states[l] + n * site.bytes;
      for (std::uint32_t i = 0; i < site.bytes; ++i) to[i] = ~state[i];
      const std::byte extension = site.is_signed ? ~state[site.bytes - 1] : std::byte{0};
      for (std::uint32_t i = site.bytes; i < site.result_bytes; ++i) to[i] = extension;
    });
    values.origins[static_cast<std::uint32_t>(slot) / line] = from;
  }
}

void init_checker::store(warp& w, const init_site& site, lane_mask lanes) {
  const instruction& instr = *site.at;
  const lane_states states = states_of(w, site, lanes, site.results * site.bytes);
  if (!w.current->undefined) {
    each_lane(lanes, [&](int l) {
      if (states[l]) std::memset(states[l], 0xff, site.results * site.bytes);
    });
    return;
  }
  use(w, site, instr.operand[4], site.is_narrow ? 4 : 8, lanes, "address of a store");
  if (instr.guard >= 0) use_predicate(w, site, instr.guard, lanes, "condition of a store");
  const auto& registers = w.current->undefined->registers;
  for (std::uint32_t n = 0; n < site.results; ++n) {
    const operand_slot slot = instr.operand[n];
    each_lane(lanes, [&](int l) {
      if (!states[l]) return;
      std::byte* to = states[l] + n * site.bytes;
      for (std::uint32_t i = 0; i < site.bytes; ++i) {
        const std::size_t at =
            static_cast<std::size_t>(slot) + static_cast<std::size_t>(l) * site.result_bytes + i;
        to[i] = slot >= 0 ? ~registers[at] : written;
      }
      if (slot >= 0 && !is_written(to, site.bytes)) {
        note_store(site, to, site.bytes,
                   w.current->undefined->origins[static_cast<std::uint32_t>(slot) / line]);
      }
    });
  }
  forget_if_defined(w);
}

void init_checker::update(warp& w, const init_site& site, lane_mask lanes) {
  const instruction& instr = *site.at;
  const lane_states states = states_of(w, site, lanes, site.bytes);
  const bool is_exchange = site.rule == value_rule::exchange_memory;
  if (w.current->undefined) {
    use(w, site, instr.operand[4], 8, lanes, "address of an atomic operation");
    for (int operand : {1, 2}) {
      use(w, site, instr.operand[operand], site.bytes, lanes, "operand of an atomic operation");
    }
    define(w, site, lanes);
  }
  each_lane(lanes, [&](int l) {
    if (!states[l]) return;
    if (!is_exchange && !is_written(states[l], site.bytes)) {
      const std::uint32_t from = note_origin(w, site, 1u << l, states, site.bytes);
      add_finding(w, site, l, "target of an atomic operation", from);
    }
    std::memset(states[l], 0xff, site.bytes);
  });
}

void init_checker::copy_async(warp& w, const init_site& site, lane_mask lanes) {
  const instruction& instr = *site.at;
  const std::uint32_t bytes = instr.flags & copy_flag::bytes;
  each_lane(lanes, [&](int l) {
    std::uint32_t read = bytes;
    if (instr.flags & copy_flag::has_size) read = w.at<std::uint32_t>(instr.operand[1])[l];
    const bool is_skipped = (instr.flags & copy_flag::has_predicate) != 0 &&
                            (w.predicates[instr.operand[1]] >> l & 1) != 0;
    if (is_skipped) read = 0;
    std::byte* to = shared_state(w, w.at<std::uint64_t>(instr.operand[0])[l], bytes);
    if (!to) return;
    std::memset(to, 0xff, bytes);
    std::byte* from = state_of(w, site, address_of(w, site, l), l, bytes);
    read = std::min(read, bytes);
    if (!from) return;
    std::memcpy(to, from, read);
    if (is_written(from, read)) return;
    lane_states states{};
    states[l] = from;
    note_store(site, to, read, note_origin(w, site, 1u << l, states, read));
  });
}

// Marks all memory as written.
void init_checker::store_anywhere(warp& w) {
  w.current->undefined.reset();
  auto& shared = w.block->shared_states;
  std::fill(shared.begin(), shared.end(), written);
  if (std::exchange(has_unknown_stores_, true)) return;
  for (const memory::allocation& each : launch_.space.live_allocations()) {
    launch_.space.states()->mark(each.base, each.size, written);
  }
}

void init_checker::record_flow(warp& w, const instruction& instr, lane_mask lanes) {
  if (!w.current->undefined) return;
  const init_site& site = site_of(w, instr);
  forget_if_defined(w);
  if (!w.current->undefined) return;
  if (instr.guard >= 0) use_predicate(w, site, instr.guard, lanes, "condition of a branch");
  if (instr.kind == flow::collective) {
    use(w, site, instr.operand[4], 4, lanes, "mask of lanes");
  } else if (instr.kind == flow::barrier) {
    use(w, site, instr.operand[2], 4, lanes, "number of a barrier");
    if (instr.flags & barrier_flag::has_count) {
      use(w, site, instr.operand[3], 4, lanes, "thread count of a barrier");
    }
  }
}

void init_checker::meet(warp& w, const instruction& instr, lane_mask lanes) {
  const init_site& site = site_of(w, instr);
  if (site.rule != value_rule::shuffle && site.rule != value_rule::between_lanes) return;
  if (site.rule == value_rule::shuffle && lanes != all_lanes) values_of(*w.current).age = 0;
  if (w.current->undefined) compute(w, site, lanes);
}

void init_checker::enter(const warp& w, const frame& entered, lane_mask lanes) const {
  const std::uint32_t bytes = entered.function->frame_bytes;
  each_lane(lanes, [&](int l) {
    if (std::byte* states = local_state(w, l, entered.base, bytes)) std::memset(states, 0, bytes);
  });
}

void init_checker::copy(const warp& w, const place& from, const place& to, std::uint32_t bytes,
                        lane_mask lanes) {
  const auto address = [&](const place& p, int l) -> std::byte* {
    if (p.is_memory)
      return local_state(w, l, p.owner->base + static_cast<std::uint32_t>(p.at), bytes);
    if (p.at < 0 || !p.owner->undefined) return nullptr;
    return p.owner->undefined->registers.data() + p.at + static_cast<std::size_t>(l) * bytes;
  };
  each_lane(lanes, [&](int l) {
    const std::byte* source = address(from, l);
    const bool is_undefined =
        source && (from.is_memory ? !is_written(source, bytes)
                                  : std::any_of(source, source + bytes,
                                                [](std::byte b) { return b != std::byte{0}; }));
    if (is_undefined && !to.is_memory) {
      const std::uint32_t of_register =
          from.is_memory ? 0
                         : from.owner->undefined->origins[static_cast<std::size_t>(from.at) / line];
      values_of(*to.owner).origins[static_cast<std::size_t>(to.at) / line] =
          of_register ? of_register : unknown_origin;
    }
    std::byte* target = address(to, l);
    if (!target) return;
    for (std::uint32_t i = 0; i < bytes; ++i) {
      const std::byte state = !source ? written : from.is_memory ? source[i] : ~source[i];
      target[i] = to.is_memory ? state : ~state;
    }
  });
}

void init_checker::define_result(const warp& w, const place& to, std::uint32_t bytes, int lane) {
  const place constant{to.owner, false, -1};
  copy(w, constant, to, bytes, 1u << lane);
}

void init_checker::use_argument(const warp& w, const instruction& call, int lane,
                                std::uint64_t address, std::uint32_t bytes) {
  init_site generic;
  std::byte* states = state_of(w, generic, address, lane, bytes);
  if (!states || is_written(states, bytes)) return;
  const init_site& site = site_of(w, call);
  origin from;
  from.unwritten = static_cast<std::uint32_t>(std::count(states, states + bytes, unwritten));
  from.bytes = bytes;
  from.space = report::memory_space::local;
  const std::uint32_t number = ~site.number;
  origins_[number] = from;
  add_finding(w, site, lane, "argument of printf", number);
  std::memset(states, 0xff, bytes);
}

}  // namespace halfwarp::emulator::exec
