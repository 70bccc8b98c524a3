// SPDX-License-Identifier: Apache-2.0
// The symbols of all sources of a link: which is defined where, and which of two is taken.
#include "emulator/link/symbol_table.hpp"

namespace halfwarp::emulator::link {
namespace {

using ptx::linkage;

// Gives way to another definition of the name.
bool is_replaceable(linkage l) noexcept { return l == linkage::weak || l == linkage::common; }

std::uint64_t size_of(const std::vector<source>& sources, const definition& d) {
  return d.is_function ? 0 : sources[d.source].module->variables[d.index].size;
}

}  // namespace

// A kernel is found by its name whatever its linkage.
bool is_internal(const ptx::function& f) noexcept {
  return f.is_definition && !f.is_entry && f.linkage == linkage::internal;
}

bool is_internal(const ptx::variable& v) noexcept { return v.linkage == linkage::internal; }

bool is_open(const ptx::function& f) noexcept { return !f.is_definition; }

bool is_open(const ptx::variable& v) noexcept {
  return v.linkage == linkage::extern_ && !is_dynamic_shared(v);
}

bool is_dynamic_shared(const ptx::variable& v) noexcept {
  return v.linkage == linkage::extern_ && v.space == ptx::state_space::shared;
}

void report(std::string& log, std::string_view what, std::string_view name, std::string_view source,
            std::string_view more) {
  log.append("error   : ").append(what).append(" '").append(name).append("' in '");
  log.append(source).append("'").append(more).append("\n");
}

symbol_table::symbol_table(const std::vector<source>& sources, std::string& log)
    : sources_{sources} {
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const ptx::module& m = *sources[s].module;
    for (std::uint32_t i = 0; i < m.functions.size(); ++i) {
      const ptx::function& f = m.functions[i];
      seen_in_[f.name].insert(s);
      if (is_internal(f) || is_open(f)) continue;
      const linkage l = f.linkage == linkage::internal ? linkage::visible : f.linkage;
      add(f.name, {s, true, i, l}, log);
    }
    for (std::uint32_t i = 0; i < m.variables.size(); ++i) {
      const ptx::variable& v = m.variables[i];
      seen_in_[v.name].insert(s);
      if (is_internal(v) || v.linkage == linkage::extern_) continue;
      add(v.name, {s, false, i, v.linkage}, log);
    }
  }
}

void symbol_table::add(std::string_view name, const definition& found, std::string& log) {
  const auto [place, is_new] = definitions_.try_emplace(name, found);
  if (is_new) return;
  definition& first = place->second;
  if (is_replaceable(found.linkage)) {
    const bool is_larger = found.linkage == linkage::common && first.linkage == linkage::common &&
                           size_of(sources_, found) > size_of(sources_, first);
    if (is_larger) first = found;
  } else if (is_replaceable(first.linkage)) {
    first = found;
  } else {
    report(log, "Multiple definition of", name, sources_[found.source].name,
           ", first defined in '" + sources_[first.source].name + "'");
  }
}

const definition* symbol_table::find(std::string_view name) const {
  const auto found = definitions_.find(name);
  return found == definitions_.end() ? nullptr : &found->second;
}

bool symbol_table::is_in_another(std::string_view name, std::size_t source) const {
  const auto found = seen_in_.find(name);
  return found != seen_in_.end() && (found->second.size() > 1 || !found->second.contains(source));
}

}  // namespace halfwarp::emulator::link
