// SPDX-License-Identifier: Apache-2.0
// Creates the checks of a launch, and finds the pattern of each access once for all of them.
#include "emulator/exec/check/launch_checks.hpp"

#include <algorithm>
#include <iterator>

#include "emulator/exec/check/warp_access.hpp"
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
  if (options.check_races) races = std::make_unique<race_checker>(launch, sites_);
  if (options.check_init) definedness = std::make_unique<init_checker>(launch, sites_);
  if (options.records_accesses) accesses = std::make_unique<access_recorder>(launch);
  if (options.check_barriers) barriers = std::make_unique<barrier_checker>(launch);
  if (races || barriers) copies = std::make_unique<copy_checker>(launch);
  if (options.check_neighbors) neighbors = std::make_unique<neighbor_checker>(launch, sites_);
  needs_patterns_ = races || definedness || neighbors;
  for (std::size_t n = 0; n < sites_.all.size(); ++n) {
    const race_site& site = sites_.all[n];
    const bool changes_memory = definedness && definedness->changes_memory(n);
    all_concerns_.push_back(site.use != race_site::role::none || changes_memory);
  }
  if (options.records_forms) {
    forms = std::make_unique<executed_forms>(*launch.request.entry->owner().source);
    for (std::uint8_t& concern : all_concerns_) concern |= is_new;
  }
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
  concerns_ = all_concerns_.data() + sites_.first_of(launch_, function);
}

void launch_checks::record(warp& w, const instruction& instr, lane_mask lanes) {
  const std::size_t site = static_cast<std::size_t>(&instr - code_) +
                           static_cast<std::size_t>(concerns_ - all_concerns_.data());
  warp_access access{w, instr, sites_.all[site], lanes};
  if (access.site.use == race_site::role::access) {
    const access_shape& shape = access.site.shape;
    access.bytes = shape.bytes * elements_of(instr, shape);
    if (needs_patterns_ || (accesses && !shape.is_shared)) find_pattern(access);
  }
  if (races) races->record(access);
  if (definedness) definedness->record(access, site);
  if (accesses) accesses->record(access);
  if (copies) copies->record(access);
  if (barriers) barriers->record(access);
  if (neighbors) neighbors->record(access, site);
}

std::vector<report::fault> launch_checks::findings() const {
  std::vector<report::fault> all;
  const auto add = [&](const auto& checker) {
    if (checker) std::ranges::move(checker->findings(), std::back_inserter(all));
  };
  add(races);
  add(definedness);
  if (barriers) add(copies);
  add(barriers);
  add(neighbors);
  return all;
}

}  // namespace halfwarp::emulator::exec
