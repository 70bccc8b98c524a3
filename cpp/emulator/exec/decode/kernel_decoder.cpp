// SPDX-License-Identifier: Apache-2.0
// Reachable functions, shared memory layout, parameter passing, stack depth, refusal.
#include "emulator/exec/decode/kernel_decoder.hpp"

#include <algorithm>

#include "emulator/exec/access.hpp"
#include "emulator/exec/decode/function_decoder.hpp"
#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t return_address_bytes = 16;  // as frames are laid out at a call
constexpr std::uint64_t dynamic_alignment = 16;     // at least, of extern .shared
constexpr std::uint64_t most_shared_bytes = 1 << 30;

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool is_shared(const ptx::variable& v) {
  return ptx::without_sub_space(v.space) == ptx::state_space::shared;
}

// Shared variables that operands of a function name.
void collect_shared(const ptx::module& source, const ptx::function& f,
                    std::vector<const ptx::variable*>& found) {
  auto add = [&](const ptx::variable& v) {
    if (is_shared(v) && std::find(found.begin(), found.end(), &v) == found.end()) {
      found.push_back(&v);
    }
  };
  for (const ptx::operand& o : f.operands) {
    bool names = o.kind == ptx::operand_kind::symbol || o.base == ptx::address_base::symbol;
    if (!names) continue;
    if (o.symbol == ptx::symbol_kind::module_variable) add(source.variables[o.index]);
    if (o.symbol == ptx::symbol_kind::local_variable) add(f.variables[o.index]);
  }
}

// The frames of a chain of calls, in bytes; recursion ends the chain. An indirect call may lead to
// any function.
class depth_finder {
 public:
  explicit depth_finder(kernel_code& code)
      : code_{code}, open_(code.functions.size()), known_(code.functions.size()) {}

  std::uint64_t depth(std::uint32_t function) {
    if (open_[function]) {
      code_.is_recursive = true;
      return 0;
    }
    if (known_[function]) return *known_[function];
    open_[function] = true;
    std::uint64_t deepest = 0;
    for (const call_site& site : code_.functions[function].calls) {
      if (site.is_builtin) continue;
      if (!site.is_indirect) deepest = std::max(deepest, return_address_bytes + depth(site.callee));
      for (std::uint32_t i = 1; site.is_indirect && i < code_.functions.size(); ++i) {
        deepest = std::max(deepest, return_address_bytes + depth(i));
      }
    }
    open_[function] = false;
    known_[function] = code_.functions[function].frame_bytes + deepest;
    return *known_[function];
  }

 private:
  kernel_code& code_;
  std::vector<bool> open_;
  std::vector<std::optional<std::uint64_t>> known_;  // so that no function is walked twice
};

report::fault refusal_of(const program& owner, const ptx::function& entry, const ptx::function& f,
                         const function_decoder::refused& r) {
  report::fault fault;
  fault.kind = report::fault_kind::not_supported;
  fault.kernel = entry.name;
  fault.device = owner.device;
  set_source(fault, *owner.source, f, r.instruction);
  fault.detail = r.why;
  return fault;
}

}  // namespace

std::uint32_t kernel_layout::index_of(std::uint32_t function) const {
  auto found = std::find(functions.begin(), functions.end(), function);
  if (found == functions.end()) throw unsupported{"function that the kernel cannot reach"};
  return static_cast<std::uint32_t>(found - functions.begin());
}

namespace {

bool calls_indirectly(const ptx::function& f) {
  return std::any_of(f.instructions.begin(), f.instructions.end(), [&](const auto& i) {
    if (i.opcode != ptx::opcode::call) return false;
    auto operands = f.operands_of(i);
    return std::any_of(operands.begin(), operands.end(), [](const ptx::operand& o) {
      return o.kind == ptx::operand_kind::register_;
    });
  });
}

void add_function(const ptx::module& source, kernel_layout& layout, std::uint32_t index) {
  auto found = std::find(layout.functions.begin(), layout.functions.end(), index);
  bool is_new = found == layout.functions.end() && source.functions[index].is_definition;
  if (is_new) layout.functions.push_back(index);
}

// Functions whose address some variable holds, such as a table of virtual functions.
void add_functions_of_variables(const ptx::module& source, kernel_layout& layout) {
  for (const ptx::variable& v : source.variables) {
    for (const ptx::relocation& r : v.initialiser.relocations) {
      if (r.kind == ptx::symbol_kind::function) add_function(source, layout, r.index);
    }
  }
}

}  // namespace

kernel_layout lay_out(const ptx::module& source, std::uint32_t entry) {
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
    end = v->size > most_shared_bytes ? most_shared_bytes
                                      : std::min(end + v->size, most_shared_bytes);
  }
  bool has_dynamic = std::any_of(shared.begin(), shared.end(),
                                 [](const ptx::variable* v) { return v->is_unsized; });
  if (has_dynamic) end = round_up(end, dynamic);
  for (const ptx::variable* v : shared) {
    if (v->is_unsized) layout.shared_offsets[v] = static_cast<std::uint32_t>(end);
  }
  // More than any device has, which the launch refuses.
  layout.static_shared_bytes = static_cast<std::uint32_t>(std::min(end, most_shared_bytes));
  return layout;
}

std::unique_ptr<kernel_code> decode_kernel(const program& owner, std::uint32_t entry) {
  auto code = std::make_unique<kernel_code>();
  kernel_layout layout = lay_out(*owner.source, entry);
  code->static_shared_bytes = layout.static_shared_bytes;
  for (std::uint32_t index : layout.functions) {
    const ptx::function& f = owner.source->functions[index];
    function_decoder decoder{owner, f, layout, code->range_caches};
    code->functions.push_back(decoder.run());
    code->functions.back().address = owner.function_address(index);
    code->reads_reserved_shared |= code->functions.back().reads_reserved_shared;
    for (const auto& r : decoder.refused_instructions()) {
      report::fault refused = refusal_of(owner, owner.source->functions[entry], f, r);
      bool is_first = !code->refusal || refused.ptx_line < code->refusal->ptx_line;
      if (is_first) code->refusal = refused;
    }
  }
  if (code->refusal) return code;
  std::uint64_t depth = depth_finder{*code}.depth(0);
  if (depth > most_frame_bytes) {
    std::string why = "the deepest chain of calls needs " + std::to_string(depth) +
                      " bytes of local memory, " + std::to_string(most_frame_bytes) +
                      " is the most";
    const ptx::function& f = owner.source->functions[entry];
    code->refusal = refusal_of(owner, f, f, {0, std::move(why)});
  }
  code->local_bytes = static_cast<std::uint32_t>(std::min(depth, most_frame_bytes));
  return code;
}

}  // namespace halfwarp::emulator::exec
