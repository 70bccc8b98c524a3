// SPDX-License-Identifier: Apache-2.0
// Collects the symbols of all sources and selects among duplicate definitions.
#include "emulator/link/symbol_table.hpp"

namespace halfwarp::emulator::link {
namespace {

using ptx::linkage;

// Checks whether another definition of the name may replace this one.
bool is_replaceable(linkage l) noexcept { return l == linkage::weak || l == linkage::common; }

std::uint64_t size_of(const std::vector<source>& sources, const definition& d) {
  return d.is_function ? 0 : sources[d.source].module->variables[d.index].size;
}

}  // namespace

// Kernels are never internal, because programs look them up by name.
bool is_internal(const ptx::function& f) noexcept {
  return f.is_definition && !f.is_entry && f.linkage == linkage::internal;
}

bool is_internal(const ptx::variable& v) noexcept { return v.linkage == linkage::internal; }

bool is_undefined(const ptx::function& f) noexcept { return !f.is_definition; }

bool is_undefined(const ptx::variable& v) noexcept {
  return v.linkage == linkage::extern_ && !is_dynamic_shared(v);
}

bool is_dynamic_shared(const ptx::variable& v) noexcept {
  return v.linkage == linkage::extern_ && v.space == ptx::state_space::shared;
}

void report(std::string& log, std::string_view problem, std::string_view name,
            std::string_view source, std::string_view suffix) {
  log.append("error   : ").append(problem).append(" '").append(name).append("' in '");
  log.append(source).append("'").append(suffix).append("\n");
}

symbol_table::symbol_table(const std::vector<source>& sources, std::string& log)
    : sources_{sources} {
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const ptx::module& m = *sources[s].module;
    for (std::uint32_t i = 0; i < m.functions.size(); ++i) {
      const ptx::function& f = m.functions[i];
      sources_by_name_[f.name].insert(s);
      if (is_internal(f) || is_undefined(f)) continue;
      const linkage l = f.linkage == linkage::internal ? linkage::visible : f.linkage;
      add(f.name, {s, true, i, l}, log);
    }
    for (std::uint32_t i = 0; i < m.variables.size(); ++i) {
      const ptx::variable& v = m.variables[i];
      sources_by_name_[v.name].insert(s);
      if (is_internal(v) || v.linkage == linkage::extern_) continue;
      add(v.name, {s, false, i, v.linkage}, log);
    }
  }
}

void symbol_table::add(std::string_view name, const definition& added, std::string& log) {
  const auto [place, is_new] = definitions_.try_emplace(name, added);
  if (is_new) return;
  definition& first = place->second;
  if (is_replaceable(added.linkage)) {
    const bool is_larger = added.linkage == linkage::common && first.linkage == linkage::common &&
                           size_of(sources_, added) > size_of(sources_, first);
    if (is_larger) first = added;
  } else if (is_replaceable(first.linkage)) {
    first = added;
  } else {
    report(log, "Multiple definition of", name, sources_[added.source].name,
           ", first defined in '" + sources_[first.source].name + "'");
  }
}

const definition* symbol_table::find(std::string_view name) const {
  const auto match = definitions_.find(name);
  return match == definitions_.end() ? nullptr : &match->second;
}

bool symbol_table::is_in_other_source(std::string_view name, std::size_t source) const {
  const auto match = sources_by_name_.find(name);
  return match != sources_by_name_.end() &&
         (match->second.size() > 1 || !match->second.contains(source));
}

}  // namespace halfwarp::emulator::link
