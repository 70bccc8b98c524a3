// SPDX-License-Identifier: Apache-2.0
// This file derives the counts of PTX instructions from the counts of segments.
#include "emulator/exec/profile/launch_counts.hpp"

#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

void execution_counts::add(const execution_counts& other) {
  executions += other.executions;
  lanes += other.lanes;
  guarded_executions += other.guarded_executions;
  guarded_lanes += other.guarded_lanes;
  taken += other.taken;
  not_taken += other.not_taken;
  divergent += other.divergent;
}

void lane_step::add(const lane_step& other) {
  if (other.kind == state::unknown) return;
  const bool agrees = other.kind == state::equal && other.bytes == bytes;
  if (kind == state::unknown) {
    *this = other;
  } else if (kind == state::equal && !agrees) {
    kind = state::different;
  }
}

void access_counts::add(const access_counts& other) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
  step.add(other.step);
}

namespace {

const ptx::module& module_of(const launch_state& launch) {
  return *launch.request.entry->owner().source;
}

}  // namespace

launch_counts::launch_counts(const launch_state& launch) : launch_{launch}, marks_{launch.code} {
  const profile_detail detail = launch.options.profile;
  if (detail == profile_detail::none) return;
  if (detail == profile_detail::executions && marks_.has_marks()) return;
  std::size_t size = 0;
  for (const function_code& function : launch.code.functions) {
    first_.push_back(size);
    size += function.code.size() + 1;  // segments end after the last instruction
  }
  executions_.resize(size);
  if (detail != profile_detail::accesses) return;
  site_numbers_.resize(size);
  for (std::size_t f = 0; f < first_.size(); ++f) {
    const function_code& function = launch.code.functions[f];
    for (std::size_t i = 0; i < function.code.size(); ++i) {
      const instruction& instr = function.code[i];
      const auto& source = function.source->instructions[instr.source];
      const auto site = find_site(instr, module_of(launch).mnemonic_of(source));
      if (!site) continue;
      sites_.push_back(*site);
      site_numbers_[first_[f] + i] = static_cast<std::uint32_t>(sites_.size());
    }
  }
  accesses_.resize(sites_.size());
}

std::shared_ptr<launch_counts> launch_counts::create(const launch_state& launch) {
  if (launch.options.profile == profile_detail::none && !are_marks_known()) return nullptr;
  auto counts = std::make_shared<launch_counts>(launch);
  const bool counts_something = counts->has_instructions() || counts->marks().has_marks();
  return counts_something ? counts : nullptr;
}

std::size_t launch_counts::index_of(const function_code& function) const {
  return first_[static_cast<std::size_t>(&function - launch_.code.functions.data())];
}

execution_counts* launch_counts::executions_of(const function_code& function) {
  return executions_.empty() ? nullptr : executions_.data() + index_of(function);
}

const std::uint32_t* launch_counts::sites_of(const function_code& function) const {
  return site_numbers_.empty() ? nullptr : site_numbers_.data() + index_of(function);
}

void launch_counts::record(warp& w, const instruction& instr, lane_mask lanes, std::uint32_t site) {
  add_access(accesses_[site], w, instr, sites_[site], lanes);
}

void launch_counts::add(const launch_counts& other) {
  for (std::size_t i = 0; i < executions_.size(); ++i) executions_[i].add(other.executions_[i]);
  for (std::size_t i = 0; i < accesses_.size(); ++i) accesses_[i].add(other.accesses_[i]);
  marks_.add(other.marks_);
}

// Several decoded instructions may execute one of the text. The first counts its executions.
function_profile launch_counts::profile_of(const function_code& function) const {
  const ptx::function& text = *function.source;
  function_profile result;
  result.function = static_cast<std::uint32_t>(&text - module_of(launch_).functions.data());
  result.instructions.resize(text.instructions.size());
  const std::size_t first = index_of(function);
  std::uint64_t executions = 0, lanes = 0;
  std::uint32_t next = 0;  // in the text
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    const execution_counts& counts = executions_[first + i];
    executions += counts.executions;
    lanes += counts.lanes;
    const std::uint32_t source = function.code[i].source;
    for (; next <= source && next < result.instructions.size(); ++next) {
      execution_counts& target = result.instructions[next].counts;
      target.executions = executions;  // of an instruction without code: those of its successor
      target.lanes = lanes;
      if (next != source) continue;
      target.guarded_executions = counts.guarded_executions;
      target.guarded_lanes = counts.guarded_lanes;
    }
    if (source >= result.instructions.size()) continue;
    instruction_profile& target = result.instructions[source];
    target.counts.taken += counts.taken;
    target.counts.not_taken += counts.not_taken;
    target.counts.divergent += counts.divergent;
    const std::uint32_t site = site_numbers_.empty() ? 0 : site_numbers_[first + i];
    if (site) target.accesses.add(accesses_[site - 1]);
  }
  return result;
}

launch_profile launch_counts::profile() const {
  const launch_request& request = launch_.request;
  launch_profile result;
  result.source = request.entry->owner().source;
  result.grid = {request.grid.x, request.grid.y, request.grid.z};
  result.block = {request.block.x, request.block.y, request.block.z};
  for (const function_code& function : launch_.code.functions) {
    result.functions.push_back(profile_of(function));
  }
  return result;
}

}  // namespace halfwarp::emulator::exec
