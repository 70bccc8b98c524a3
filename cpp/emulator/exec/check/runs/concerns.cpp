// SPDX-License-Identifier: Apache-2.0
// Creates the checks of a launch, and finds the instructions that concern them.
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
  all_seen_.resize(sites_.all.size());
  if (!options.records_forms) {
    for (const function_code& function : launch.code.functions) {
      find_runs(function, sites_.first_of(launch, function));
    }
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
  if (definedness && definedness->is_always_followed(n)) bits |= of_definedness;
  if (accesses && access_recorder::is_recorded(site)) bits |= of_accesses;
  const bool is_of_copies = is_access || site.use == role::copy || site.at->run == &run_copy_arrive;
  if (copies && copies->is_tracked() && is_of_copies) bits |= of_copies;
  if (barriers && barrier_checker::is_recorded(site)) bits |= of_barriers;
  if (neighbors && neighbors->is_recorded(site, n)) bits |= of_neighbors;
  constexpr std::uint8_t with_patterns = of_races | of_definedness | of_accesses | of_neighbors;
  if (is_access && (bits & with_patterns)) bits |= has_pattern;
  return bits;
}

// Returns whether an instruction needs no check, or is a load that follows another access.
bool launch_checks::is_in_run(const function_code& function, std::size_t first,
                              std::size_t n) const {
  const instruction& instr = function.tuned[n];
  if (instr.kind != flow::next || !instr.is_plain) return false;
  const std::uint8_t concern = all_concerns_[first + n];
  const race_site& site = sites_.all[first + n];
  const bool is_load = uses_shape_[first + n] && site.shape.use == memory_use::load &&
                       site.shape.bytes == 4 && site.reach == race::scope::weak;
  const bool is_alone =
      instr.run == all_followed_[first + n].run;  // else it runs the next load too
  return (concern == 0 || (is_load && !(concern & (of_copies | of_barriers)))) &&
         (is_alone || is_in_run(function, first, n + 1));
}

// Finds the instructions that run without `record`.
void launch_checks::find_runs(const function_code& function, std::size_t first) {
  const std::size_t size = function.tuned.size();
  for (std::size_t n = size; n-- > 0;) {
    if (all_concerns_[first + n] || !is_in_run(function, first, n)) continue;
    const std::uint32_t next = n + 1 < size ? all_seen_[first + n + 1] : 0;
    all_seen_[first + n] = next ? next : static_cast<std::uint32_t>(n + 1);
  }
  for (std::size_t n = 0; n < size; ++n) {
    if (all_concerns_[first + n] == 0 || !is_in_run(function, first, n)) continue;
    all_seen_[first + n] = is_run | static_cast<std::uint32_t>(runs_.size());
    load_run run;
    for (; n < size && is_in_run(function, first, n); ++n) {
      if (all_concerns_[first + n]) add_load(first + n, run);
    }
    run.end = static_cast<std::uint32_t>(n);
    runs_.push_back(std::move(run));
  }
}

void launch_checks::add_load(std::size_t site, load_run& run) const {
  const instruction& tuned = all_followed_[site];
  const std::uint32_t distance = tuned.target;
  const bool is_alone = launch_.request.cluster.count() == 1;
  auto group = std::ranges::find(run.groups, tuned.shape, &load_group::shape);
  if (group == run.groups.end()) group = run.groups.insert(group, {tuned.shape, distance});
  const std::uint32_t end = std::max(group->nearest + group->extent, distance + 4);
  group->nearest = std::min(group->nearest, distance);
  group->extent = end - group->nearest;
  group->is_shared = launch_.options.check_races && is_alone && sites_.all[site].shape.is_shared;
  group->loads.push_back({static_cast<std::uint32_t>(site), distance});
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
