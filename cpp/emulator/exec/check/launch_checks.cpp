// SPDX-License-Identifier: Apache-2.0
// Finds the pattern of each access once for all checks of a launch.
#include "emulator/exec/check/launch_checks.hpp"

#include <algorithm>

#include "emulator/exec/async/async.hpp"
#include "emulator/exec/check/warp_access.hpp"
#include "emulator/exec/decode/tuning.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

void launch_checks::begin(block_state& block) {
  if (races) races->begin(block);
  if (definedness) definedness->begin(block);
  if (copies) copies->begin(block);
  if (barriers) barriers->begin(block);
}

void launch_checks::select(const function_code& function) {
  function_ = &function;
  code_ = function.code.data();
  const std::size_t first = sites_.first_of(launch_, function);
  concerns_ = all_concerns_.data() + first;
  followed_ = all_followed_.data() + first;
  seen_ = all_seen_.data() + first;
}

bool launch_checks::record_form(const warp& w, const instruction& instr) {
  forms->record(w.function->source->instructions[instr.source]);
  return concerns_[&instr - code_] &= static_cast<std::uint8_t>(~is_new);
}

// Returns the access of a group with the lowest addresses. It has the bytes of all loads.
inline warp_access launch_checks::nearest(const load_group& group, warp& w) const {
  const auto [number, distance] = group.loads.front();
  const race_site& site = sites_.all[number];
  warp_access access{w, *site.at, site, number, all_lanes, group.extent};
  take_shape(access, w.shapes[group.shape], distance);
  for (warp_access::half& each : access.halves) {
    each.address -= distance - group.nearest;
    each.cell -= distance - group.nearest;
  }
  return access;
}

// The handler of the first access of a group has recorded the addresses of all lanes.
[[gnu::always_inline]] inline void launch_checks::find_addresses(warp_access& access) {
  const bool is_plain = launch_.observed_by != nullptr;  // another observer needs the plain code
  if (uses_shape_[access.number] && access.lanes == all_lanes && !is_plain) {
    const instruction& followed = all_followed_[access.number];
    const lane_shape& shape = access.view.shapes[followed.shape];
    if (shape.lanes != lane_shape::form::unknown) return take_shape(access, shape, followed.target);
  }
  find_pattern(access);
}

load_group::memo launch_checks::memo_of(const load_group& group, const warp& w) const {
  const lane_shape& shape = w.shapes[group.shape];
  const std::uint32_t phase = group.is_shared ? races->phase_of(w) : 0;
  return {shape.low, shape.high, stores_, phase, shape.lanes};
}

// Returns whether all bytes of a group are defined and belong to the object of their pointer. The
// access has them as the bytes of two uniform halves.
bool launch_checks::pass(warp_access range) const {
  if (range.halves[0].kind == warp_access::pattern::run) range.bytes += (half_warp - 1) * 4;
  for (warp_access::half& each : range.halves) each.kind = warp_access::pattern::uniform;
  if (range.halves[0].cell == range.halves[1].cell) range.halves[1] = {};
  return (!definedness || definedness->pass(range)) && (!neighbors || neighbors->pass(range));
}

// Groups are recorded one after the other, so another order must not matter.
inline bool may_overlap(const lane_shape& a, const load_group& first, const lane_shape& b,
                        const load_group& second) {
  constexpr std::uint64_t most = half_warp * 4;  // bytes of a half with consecutive lanes
  const auto start = [](const lane_shape& shape, const load_group& group) {
    return std::min(shape.low, shape.high) + group.nearest;
  };
  const auto end = [](const lane_shape& shape, const load_group& group) {
    return std::max(shape.low, shape.high) + group.nearest + group.extent + most;
  };
  return start(a, first) < end(b, second) && start(b, second) < end(a, first);
}

// Checks all loads of a run. Returns 0, without a change, if one needs a closer look.
std::uint32_t launch_checks::pass(warp& w, load_run& run) {
  if (w.active != all_lanes) return 0;
  for (const load_group& group : run.groups) {
    const lane_shape& shape = w.shapes[group.shape];
    if (shape.lanes == lane_shape::form::unknown) return 0;
    const bool is_known = group.is_shared && group.last == memo_of(group, w);
    if (!is_known && !pass(nearest(group, w))) return 0;
    for (const load_group* other = run.groups.data(); other != &group; ++other) {
      if (may_overlap(shape, group, w.shapes[other->shape], *other)) return 0;
    }
  }
  for (load_group& group : run.groups) record(group, w);
  return run.end;
}

void launch_checks::record(load_group& group, warp& w) {
  const load_group::memo now = memo_of(group, w);
  if (group.is_shared && group.last == now) return;
  const warp_access first = nearest(group, w);
  if (launch_.options.check_races && races->record(first, group)) group.last = now;
  for (const following_load& load : group.loads) {
    if (!(all_concerns_[load.site] & of_accesses)) continue;
    warp_access access = first;
    access.bytes = 4;
    for (warp_access::half& each : access.halves) each.address += load.distance - group.nearest;
    accesses->record(access);
  }
}

// Most accesses have a pattern and are correct. Each check passes these by a short path.
void launch_checks::record(warp& w, const instruction& instr, lane_mask lanes) {
  const std::uint8_t* const concern = &concerns_[&instr - code_];
  const auto number = static_cast<std::size_t>(concern - all_concerns_.data());
  std::uint32_t bits = *concern;
  const bool has_undefined = definedness && w.current->undefined;
  if (has_undefined) bits |= of_definedness;
  warp_access access{w, instr, sites_.all[number], number, lanes};
  if (access.site.use == race_site::role::access) {
    const access_shape& shape = access.site.shape;
    access.bytes = shape.bytes * elements_of(instr, shape);
    if (bits & has_pattern) find_addresses(access);
  }
  if (access.site.shape.use != memory_use::load) ++stores_;
  if (access.is_regular) {
    if ((bits & of_races) && races->pass(access)) bits &= ~std::uint32_t{of_races};
    const bool is_passing = (bits & of_definedness) && !has_undefined && definedness->pass(access);
    if (is_passing) bits &= ~std::uint32_t{of_definedness};
    if ((bits & of_neighbors) && neighbors->pass(access)) bits &= ~std::uint32_t{of_neighbors};
  }
  if (bits & ~std::uint32_t{has_pattern}) record(access, bits);
}

void launch_checks::record(const warp_access& access, std::uint32_t bits) {
  if (bits & of_copies) copies->record(access);  // before the barrier that publishes copies
  if (bits & of_races) races->record(access);
  if (bits & of_definedness) definedness->record(access);
  if (bits & of_accesses) accesses->record(access);
  if (bits & of_barriers) barriers->record(access);
  if (bits & of_neighbors) neighbors->record(access);
}

}  // namespace halfwarp::emulator::exec
