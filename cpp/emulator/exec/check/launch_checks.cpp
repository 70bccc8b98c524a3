// SPDX-License-Identifier: Apache-2.0
// Creates the checks of a launch, and finds the pattern of each access once for all of them.
#include "emulator/exec/check/launch_checks.hpp"

#include <algorithm>
#include <iterator>

#include "emulator/exec/async/async.hpp"
#include "emulator/exec/check/warp_access.hpp"
#include "emulator/exec/decode/tuning.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

std::unique_ptr<launch_checks> launch_checks::create(const launch_state& launch) {
  const run_options& options = launch.options;
  const bool is_checked = options.check_races || options.check_init || options.records_accesses ||
                          options.check_barriers || options.check_neighbors ||
                          options.records_forms;
  return is_checked ? std::make_unique<launch_checks>(launch) : nullptr;
}

launch_checks::launch_checks(const launch_state& launch)
    : launch_{launch}, sites_{make_launch_sites(launch)} {
  const run_options& options = launch.options;
  if (options.check_races || options.check_init) {
    races = std::make_unique<race_checker>(launch, sites_);
  }
  if (options.check_init) definedness = std::make_unique<init_checker>(launch, sites_);
  if (options.records_accesses) accesses = std::make_unique<access_recorder>(launch);
  if (options.check_barriers) barriers = std::make_unique<barrier_checker>(launch);
  if (options.check_races || barriers) copies = std::make_unique<copy_checker>(launch);
  if (options.check_neighbors) neighbors = std::make_unique<neighbor_checker>(launch, sites_);
  for (std::size_t n = 0; n < sites_.all.size(); ++n) all_concerns_.push_back(concern_of(n));
  for (const function_code& function : launch.code.functions) {
    const auto code = unfused(function, uses_shape_);
    const bool is_plain = options.records_forms || code.size() != function.code.size();
    const auto& followed = is_plain ? function.code : code;
    all_followed_.insert(all_followed_.end(), followed.begin(), followed.end());
  }
  if (options.records_forms) {
    uses_shape_.assign(uses_shape_.size(), false);
    forms = std::make_unique<executed_forms>(*launch.request.entry->owner().source);
    for (std::uint8_t& concern : all_concerns_) concern |= is_new;
  }
}

std::uint8_t launch_checks::concern_of(std::size_t n) const {
  using role = race_site::role;
  const race_site& site = sites_.all[n];
  const bool is_access = site.use == role::access;
  std::uint8_t bits = 0;
  const bool is_known_writer =
      is_access && !site.shape.is_shared && site.shape.use != memory_use::load;
  const bool is_of_races = launch_.options.check_races
                               ? site.use != role::none && site.use != role::copy
                               : is_known_writer;
  if (races && is_of_races) bits |= of_races;
  if (definedness && definedness->changes_memory(n)) bits |= of_definedness;
  if (accesses && access_recorder::is_recorded(site)) bits |= of_accesses;
  const bool is_of_copies = is_access || site.use == role::copy || site.at->run == &run_copy_arrive;
  if (copies && copies->is_tracked() && is_of_copies) bits |= of_copies;
  if (barriers && barrier_checker::is_recorded(site)) bits |= of_barriers;
  if (neighbors && neighbors->is_recorded(site, n)) bits |= of_neighbors;
  constexpr std::uint8_t with_patterns = of_races | of_definedness | of_accesses | of_neighbors;
  if (is_access && (bits & with_patterns)) bits |= has_pattern;
  return bits;
}

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
}

bool launch_checks::record_form(const warp& w, const instruction& instr) {
  forms->record(w.function->source->instructions[instr.source]);
  return concerns_[&instr - code_] &= static_cast<std::uint8_t>(~is_new);
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

std::vector<report::fault> launch_checks::findings() const {
  std::vector<report::fault> all;
  const auto add = [&](const auto& checker) {
    if (checker) std::ranges::move(checker->findings(), std::back_inserter(all));
  };
  if (launch_.options.check_races) add(races);
  add(definedness);
  if (barriers) add(copies);
  add(barriers);
  add(neighbors);
  return all;
}

}  // namespace halfwarp::emulator::exec
