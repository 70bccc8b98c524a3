// SPDX-License-Identifier: Apache-2.0
// Resolves names after the whole module is parsed.
#include "emulator/ptx/syntax/context.hpp"

namespace halfwarp::emulator::ptx::syntax {
namespace {

void resolve_aliases(module& out) {
  for (const alias& a : out.aliases) {
    const auto target = out.symbols.find(a.target);
    if (target == out.symbols.end() || target->second.kind != symbol_kind::function) continue;
    const auto [place, is_new] = out.symbols.try_emplace(a.name, target->second);
    if (is_new || place->second.kind != symbol_kind::function) continue;
    if (!out.functions[place->second.index].is_definition) place->second = target->second;
  }
}

module::symbol look_up(const module& out, std::string_view name) {
  const auto match = out.symbols.find(name);
  return match == out.symbols.end() ? module::symbol{} : match->second;
}

void resolve_relocations(const module& out, std::vector<variable>& variables) {
  for (variable& v : variables) {
    for (relocation& r : v.initializer.relocations) {
      const module::symbol match = look_up(out, r.name);
      r.kind = match.kind;
      r.index = match.index;
    }
  }
}

void resolve_name(module& out, const unresolved_name& name) {
  function& f = out.functions[name.function];
  if (name.operand != no_index) {
    operand& o = f.operands[name.operand];
    const module::symbol match = look_up(out, o.name);
    o.symbol = match.kind;
    o.index = match.index;
    return;
  }
  target_list& list = f.target_lists[name.list];
  const module::symbol match = look_up(out, list.names[name.element]);
  if (match.kind == symbol_kind::function) list.indices[name.element] = match.index;
}

}  // namespace

void resolve(context& shared) {
  module& out = shared.out;
  resolve_aliases(out);
  for (const unresolved_name& name : shared.unresolved_names) resolve_name(out, name);
  resolve_relocations(out, out.variables);
  for (function& f : out.functions) resolve_relocations(out, f.variables);
}

}  // namespace halfwarp::emulator::ptx::syntax
