// SPDX-License-Identifier: Apache-2.0
// Resolution at the end of a module.
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
  const auto found = out.symbols.find(name);
  return found == out.symbols.end() ? module::symbol{} : found->second;
}

void resolve_relocations(const module& out, std::vector<variable>& variables) {
  for (variable& v : variables) {
    for (relocation& r : v.initialiser.relocations) {
      const module::symbol found = look_up(out, r.name);
      r.kind = found.kind;
      r.index = found.index;
    }
  }
}

void resolve_open(module& out, const open_name& open) {
  function& f = out.functions[open.function];
  if (open.operand != no_index) {
    operand& o = f.operands[open.operand];
    const module::symbol found = look_up(out, o.name);
    o.symbol = found.kind;
    o.index = found.index;
    return;
  }
  target_list& list = f.target_lists[open.list];
  const module::symbol found = look_up(out, list.names[open.element]);
  if (found.kind == symbol_kind::function) list.indices[open.element] = found.index;
}

}  // namespace

void resolve(context& shared) {
  module& out = shared.out;
  resolve_aliases(out);
  for (const open_name& open : shared.open_names) resolve_open(out, open);
  resolve_relocations(out, out.variables);
  for (function& f : out.functions) resolve_relocations(out, f.variables);
}

}  // namespace halfwarp::emulator::ptx::syntax
