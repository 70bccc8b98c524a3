// SPDX-License-Identifier: Apache-2.0
// Runs a kernel with the options of the driver and converts its fault to a failure.
#include "emulator/module/kernel_launch.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "emulator/driver/driver.hpp"
#include "emulator/driver/findings/profile_log.hpp"
#include "emulator/exec/code.hpp"
#include "emulator/module/unmarked.hpp"
#include "emulator/stream/conditional.hpp"
#include "emulator/stream/context.hpp"
#include "emulator/stream/schedule/hazards.hpp"
#include "emulator/stream/schedule/interruption.hpp"

namespace halfwarp::emulator {
namespace {

// Sets the value of a conditional handle; called by the threads that run a kernel.
std::string set_conditional(driver& d, const context& owner, std::uint64_t handle,
                            std::uint32_t value) {
  const std::lock_guard guard{d.lock};
  const auto match = d.objects.find<conditional>(handle);
  if (!match) return d.objects.describe(object_kind::conditional, handle);
  if (match->context() != owner.id()) return "a conditional handle of another context";
  match->value.store(value, std::memory_order_relaxed);
  return {};
}

exec::run_options options_for(driver& d, stream& target) {
  context& owner = target.owner();
  exec::run_options options;
  options.threads = d.settings.threads;
  options.seed = d.settings.seed;
  options.is_shuffled = options.seed && d.streams.take_choice() != 0;
  options.step_limit = d.settings.step_limit;
  options.stack_bytes = static_cast<std::uint32_t>(
      std::min<std::size_t>(owner.root().stack_bytes, exec::max_frame_bytes));
  options.check_memory = d.settings.checks_for(check::memory);
  options.check_sync = d.settings.checks_for(check::sync);
  options.check_races = d.settings.checks_for(check::race);
  options.records_accesses = d.settings.checks_for(check::hazard);
  options.check_barriers = d.settings.checks_for(check::barrier);
  options.check_neighbors = d.settings.checks_for(check::neighbor);
  options.check_init = d.settings.checks_for(check::init);
  options.records_forms = d.settings.fidelity;
  options.profile = the_profile_log().detail();
  options.copies_are_late = d.settings.mode == run_mode::adversarial;
  options.print = [&owner](std::string_view record) { owner.print(record); };
  options.set_conditional = [&d, &owner](std::uint64_t handle, std::uint32_t value) {
    return set_conditional(d, owner, handle, value);
  };
  options.heap = &owner.root().heap;
  options.context = owner.root().id();
  options.pending_launches = owner.root().limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT];
  options.textures = &d.textures;
  options.multiprocessors = static_cast<std::uint32_t>(owner.multiprocessors());
  options.interruptions = &interruptions;
  options.canceled = &owner.canceled();
  options.on_long_run = [&d, &target] {
    const std::lock_guard guard{d.lock};
    d.streams.may_wait(target);
  };
  return options;
}

}  // namespace

std::string short_name(const std::string& kernel) {
  std::string name = report::demangled(kernel);
  name.resize(std::min(name.find_first_of("(<"), name.size()));
  return name.substr(name.rfind(' ') + 1);
}

void kernel_launch::describe(CUgraphNodeParams& params) const {
  pointers_.clear();
  for (const auto& each : request_.entry->attributes().parameters) {
    pointers_.push_back(parameters_.data() + each.offset);
  }
  params.type = CU_GRAPH_NODE_TYPE_KERNEL;
  auto& p = params.kernel;
  p.func = function_;
  p.gridDimX = request_.grid.x;
  p.gridDimY = request_.grid.y;
  p.gridDimZ = request_.grid.z;
  p.blockDimX = request_.block.x;
  p.blockDimY = request_.block.y;
  p.blockDimZ = request_.block.z;
  p.sharedMemBytes = request_.dynamic_shared_bytes;
  p.kernelParams = pointers_.data();
}

namespace {

std::string title_of(const std::string& kernel) {
  return "kernel '" + report::demangled(kernel) + "'";
}

std::string title_of(const report::launch_writes& writes) {
  return writes.kernel.empty() ? "a copy or memset by a kernel" : title_of(writes.kernel);
}

}  // namespace

std::string kernel_launch::title() const { return title_of(request_.entry->name()); }

namespace {

// Adds the accessed bytes to the check of hazards.
void add_accesses(driver& d, stream& target, const std::vector<exec::accessed_range>& accesses) {
  constexpr byte_use uses[] = {byte_use::read, byte_use::write, byte_use::update};
  std::vector<byte_range> ranges;
  for (const auto& each : accesses) {
    ranges.push_back({each.first, each.bytes, uses[static_cast<std::size_t>(each.use)]});
  }
  const std::lock_guard guard{d.lock};
  if (auto* const hazards = d.streams.hazards()) hazards->add(target, std::move(ranges));
}

}  // namespace

failure kernel_launch::execute(stream& target) {
  driver& d = the_driver();
  d.launches.fetch_add(1, std::memory_order_relaxed);
  if (d.rules.is_armed()) {
    if (const auto injected = d.rules.on_launch(short_name(request_.entry->name()))) {
      return {injected->code, injected->is_sticky, {}};
    }
  }
  auto request = request_;  // a copy: executable graphs may run this operation concurrently
  request.parameters = parameters_.bytes();
  const auto options = options_for(d, target);
  std::shared_ptr<const exec::kernel> unmarked;
  if (options.profile == exec::profile_detail::accesses) {
    unmarked = unmarked_kernel(*request.entry, code_);
    if (unmarked) request.entry = unmarked.get();
  }
  auto result = exec::run(d.memory, request, options);
  d.instructions.fetch_add(result.instructions, std::memory_order_relaxed);
  if (!result.accesses.empty()) add_accesses(d, target, result.accesses);
  for (const auto& writes : result.writes) {
    d.writes.add({title_of(*writes), site_, writes, d.memory.next_sequence()});
  }
  bool is_failed = false;
  for (report::fault& finding : result.findings) {
    if (finding.unwritten) finding.history += d.writes.history(d.memory, finding.unwritten);
    is_failed |= d.faults.record(finding);
  }
  for (const exec::launch_profile& profile : result.profiles) the_profile_log().add(profile);
  if (!result.forms.empty()) d.forms.add(short_name(request_.entry->name()), result.forms);
  if (!result.fault && is_failed) return {CUDA_ERROR_LAUNCH_FAILED, true, {}};
  if (!result.fault) return {};
  const auto kind = result.fault->kind;
  return {report::code(kind), report::is_sticky(kind), std::move(result.fault)};
}

}  // namespace halfwarp::emulator
