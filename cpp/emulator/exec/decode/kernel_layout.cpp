// SPDX-License-Identifier: Apache-2.0
// Finds the functions that a kernel reaches and lays out its shared memory.
#include "emulator/exec/decode/kernel_layout.hpp"

#include <algorithm>

#include "emulator/exec/decode/function_decoder.hpp"
#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint64_t dynamic_alignment = 16;  // at least, of extern .shared
constexpr std::uint64_t max_shared_bytes = 1 << 30;

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool is_shared(const ptx::variable& v) {
  return ptx::without_sub_space(v.space) == ptx::state_space::shared;
}

// Appends the shared variables that the operands of a function name.
void collect_shared(const ptx::module& source, const ptx::function& f,
                    std::vector<const ptx::variable*>& variables) {
  auto add = [&](const ptx::variable& v) {
    if (is_shared(v) && std::find(variables.begin(), variables.end(), &v) == variables.end()) {
      variables.push_back(&v);
    }
  };
  for (const ptx::operand& o : f.operands) {
    bool names = o.kind == ptx::operand_kind::symbol || o.base == ptx::address_base::symbol;
    if (!names) continue;
    if (o.symbol == ptx::symbol_kind::module_variable) add(source.variables[o.index]);
    if (o.symbol == ptx::symbol_kind::local_variable) add(f.variables[o.index]);
  }
}

bool calls_indirectly(const ptx::function& f) {
  return std::any_of(f.instructions.begin(), f.instructions.end(), [&](const auto& i) {
    if (i.opcode != ptx::opcode::call) return false;
    auto operands = f.operands_of(i);
    return std::any_of(operands.begin(), operands.end(), [](const ptx::operand& o) {
      return o.kind == ptx::operand_kind::register_;
    });
  });
}

// Skips a kernel, of which functions take the address only to launch it.
void add_function(const ptx::module& source, kernel_layout& layout, std::uint32_t index) {
  const ptx::function& f = source.functions[index];
  auto match = std::find(layout.functions.begin(), layout.functions.end(), index);
  bool is_new = match == layout.functions.end() && f.is_definition && !f.is_entry;
  if (is_new) layout.functions.push_back(index);
}

// Adds functions whose address a variable stores, such as a table of virtual functions.
void add_functions_of_variables(const ptx::module& source, kernel_layout& layout) {
  for (const ptx::variable& v : source.variables) {
    for (const ptx::relocation& r : v.initializer.relocations) {
      if (r.kind == ptx::symbol_kind::function) add_function(source, layout, r.index);
    }
  }
}

}  // namespace

std::uint32_t kernel_layout::index_of(std::uint32_t function) const {
  return static_cast<std::uint32_t>(std::ranges::find(functions, function) - functions.begin());
}

kernel_layout compute_layout(const ptx::module& source, std::uint32_t entry) {
  kernel_layout layout;
  layout.functions.push_back(entry);
  std::vector<const ptx::variable*> shared;
  for (std::size_t i = 0; i < layout.functions.size(); ++i) {
    const ptx::function& f = source.functions[layout.functions[i]];
    collect_shared(source, f, shared);
    for (std::uint32_t called : ptx::called_functions(f)) add_function(source, layout, called);
    if (!layout.has_indirect_call && calls_indirectly(f)) {
      layout.has_indirect_call = true;
      add_functions_of_variables(source, layout);
    }
  }
  std::uint64_t end = 0, dynamic = dynamic_alignment;
  for (const ptx::variable* v : shared) {
    if (v->is_unsized) {
      dynamic = std::max<std::uint64_t>(dynamic, v->alignment);
      continue;
    }
    end = round_up(end, std::max(v->alignment, 1u));
    layout.shared_offsets[v] = static_cast<std::uint32_t>(end);
    end = v->size > max_shared_bytes ? max_shared_bytes : std::min(end + v->size, max_shared_bytes);
  }
  bool has_dynamic = std::any_of(shared.begin(), shared.end(),
                                 [](const ptx::variable* v) { return v->is_unsized; });
  if (has_dynamic) end = round_up(end, dynamic);
  for (const ptx::variable* v : shared) {
    if (v->is_unsized) layout.shared_offsets[v] = static_cast<std::uint32_t>(end);
  }
  // max_shared_bytes exceeds the limit of every device, so the launch is refused.
  layout.static_shared_bytes = static_cast<std::uint32_t>(std::min(end, max_shared_bytes));
  return layout;
}

}  // namespace halfwarp::emulator::exec
