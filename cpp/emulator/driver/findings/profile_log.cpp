// SPDX-License-Identifier: Apache-2.0
#include "emulator/driver/findings/profile_log.hpp"

#include <algorithm>
#include <fstream>

#include "emulator/observation/json.hpp"
#include "emulator/ptx/ast.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator {
namespace {

using exec::launch_profile;

std::string_view kernel_name(const launch_profile& profile) {
  return profile.source->functions[profile.functions.front().function].name;
}

bool is_same_module(const ptx::module& a, const ptx::module& b) {
  return &a == &b || (a.functions.size() == b.functions.size() && *a.text == *b.text);
}

bool is_same_kernel(const launch_profile& a, const launch_profile& b) {
  return kernel_name(a) == kernel_name(b) && is_same_module(*a.source, *b.source);
}

void merge(launch_profile& total, const launch_profile& other) {
  for (std::size_t f = 0; f < total.functions.size(); ++f) {
    auto& to = total.functions[f].instructions;
    const auto& from = other.functions[f].instructions;
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i].counts.add(from[i].counts);
      to[i].accesses.add(from[i].accesses);
    }
  }
}

void write_location(json_writer& json, const ptx::source_location& at) {
  json.open_array().value(at.file).value(at.line).value(at.column);
  json.value(at.function_name);
  json.value(at.inlined_file).value(at.inlined_line).value(at.inlined_column).close();
}

void write_targets(json_writer& json, const ptx::function& f, const ptx::instruction& i) {
  json.open_array();
  const bool is_branch = i.opcode == ptx::opcode::bra || i.opcode == ptx::opcode::brx;
  for (const ptx::operand& o : is_branch ? f.operands_of(i) : std::span<const ptx::operand>{}) {
    if (o.kind != ptx::operand_kind::symbol) continue;
    if (o.symbol == ptx::symbol_kind::label) json.value(f.labels[o.index].instruction);
    if (o.symbol != ptx::symbol_kind::target_list) continue;
    for (const std::uint32_t label : f.target_lists[o.index].indices) {
      json.value(f.labels[label].instruction);
    }
  }
  json.close();
}

void write_function(json_writer& json, const ptx::function& f) {
  json.open_object().member("name", f.name).member("is_kernel", f.is_entry);
  json.member("demangled", report::demangled(std::string{f.name}));
  json.key("locations").open_array();
  for (const auto& each : f.locations) write_location(json, each);
  json.close().key("instructions").open_array();
  for (const ptx::instruction& i : f.instructions) {
    json.open_array().value(i.line);
    if (i.location == ptx::no_index) {
      json.null();
    } else {
      json.value(i.location);
    }
    json.value(i.text).value(i.guard != ptx::no_index);
    write_targets(json, f, i);
    json.close();
  }
  json.close().close();
}

void write_module(json_writer& json, const ptx::module& m) {
  json.open_object().member("ptx", *m.text).key("files").open_array();
  for (const auto& file : m.files) {
    json.open_array().value(file.number).value(file.path).close();
  }
  json.close().key("functions").open_array();
  for (const ptx::function& f : m.functions) write_function(json, f);
  json.close().close();
}

void write_counts(json_writer& json, const exec::instruction_profile& p, bool has_accesses) {
  const auto& c = p.counts;
  json.open_array().value(c.executions).value(c.lanes);
  json.value(c.guarded_executions).value(c.guarded_lanes);
  json.value(c.taken).value(c.not_taken).value(c.divergent);
  if (has_accesses) {
    for (const std::uint64_t value : p.accesses.values) json.value(value);
    using state = exec::lane_step::state;
    if (p.accesses.step.kind == state::equal) json.value(p.accesses.step.bytes);
    if (p.accesses.step.kind == state::unknown) json.null();
    if (p.accesses.step.kind == state::different) json.value("different");
  }
  json.close();
}

void write_extent(json_writer& json, const std::array<std::uint32_t, 3>& size) {
  json.open_array();
  for (const std::uint32_t each : size) json.value(each);
  json.close();
}

void write_kernel(json_writer& json, const kernel_profile& kernel, std::size_t module,
                  bool has_accesses) {
  json.open_object().member("launches", kernel.launches).member("module", module);
  write_extent(json.key("grid"), kernel.total.grid);
  write_extent(json.key("block"), kernel.total.block);
  json.key("functions").open_array();
  for (const auto& function : kernel.total.functions) {
    json.open_object().member("function", function.function).key("counts").open_array();
    for (const auto& each : function.instructions) write_counts(json, each, has_accesses);
    json.close().close();
  }
  json.close().close();
}

}  // namespace

std::uint64_t profile_log::open(exec::profile_detail detail, bool is_merged) {
  const std::lock_guard guard{mutex_};
  sessions_[++last_] = {detail, is_merged, {}};
  update_detail();
  return last_;
}

void profile_log::close(std::uint64_t session) {
  const std::lock_guard guard{mutex_};
  sessions_.erase(session);
  update_detail();
}

void profile_log::update_detail() {
  auto most = exec::profile_detail::none;
  for (const auto& [id, each] : sessions_) most = std::max(most, each.detail);
  detail_.store(most, std::memory_order_relaxed);
}

void profile_log::add(const exec::launch_profile& profile) {
  const std::lock_guard guard{mutex_};
  for (auto& [id, each] : sessions_) {
    auto match = std::ranges::find_if(each.kernels, [&](const kernel_profile& kernel) {
      return each.is_merged && is_same_kernel(kernel.total, profile);
    });
    if (match == each.kernels.end()) {
      each.kernels.push_back({1, profile});
    } else {
      ++match->launches;
      merge(match->total, profile);
    }
  }
}

std::string profile_log::text(std::uint64_t session) const {
  const std::lock_guard guard{mutex_};
  const auto match = sessions_.find(session);
  if (match == sessions_.end()) return "null";
  const bool has_accesses = match->second.detail == exec::profile_detail::accesses;
  std::vector<const ptx::module*> modules;
  json_writer json;
  json.open_object().key("counters").open_array();
  for (const auto name : exec::access_counter_names) json.value(name);
  json.close().key("kernels").open_array();
  for (const kernel_profile& kernel : match->second.kernels) {
    const ptx::module& source = *kernel.total.source;
    const auto known = std::ranges::find_if(
        modules, [&](const ptx::module* each) { return is_same_module(*each, source); });
    write_kernel(json, kernel, static_cast<std::size_t>(known - modules.begin()), has_accesses);
    if (known == modules.end()) modules.push_back(&source);
  }
  json.close().key("modules").open_array();
  for (const ptx::module* each : modules) write_module(json, *each);
  return json.close().close().text();
}

bool profile_log::append(std::uint64_t session, const std::string& path) const {
  std::ofstream file{path, std::ios::app};
  return static_cast<bool>((file << text(session) + "\n").flush());
}

profile_log& the_profile_log() {
  static profile_log* const log = new profile_log;  // worker threads may use it until the end
  return *log;
}

}  // namespace halfwarp::emulator
