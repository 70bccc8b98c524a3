// SPDX-License-Identifier: Apache-2.0
// Passes the bases of pointers through the computations of a kernel until nothing changes.
#include "emulator/exec/check/pointer_bases.hpp"

#include <algorithm>

#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::opcode;
using ptx::operand_kind;
using ptx::symbol_kind;

const ptx::variable* variable_of(const ptx::module& owner, const ptx::function& function,
                                 const ptx::operand& o) {
  if (o.symbol == symbol_kind::module_variable) return &owner.variables[o.index];
  return o.symbol == symbol_kind::local_variable ? &function.variables[o.index] : nullptr;
}

bool is_parameter(const ptx::operand& o) {
  return o.kind == operand_kind::address && o.base == ptx::address_base::symbol &&
         o.symbol == symbol_kind::parameter;
}

// Selects how the bases of operands reach a result.
enum class flow_rule : std::uint8_t { all, addend, none, unknown };

flow_rule rule_of(opcode op) {
  switch (op) {
    case opcode::add:
    case opcode::sub:
    case opcode::mov:
    case opcode::cvt:
    case opcode::cvta:
    case opcode::selp:
    case opcode::min:
    case opcode::max:
    case opcode::and_:
    case opcode::or_:
    case opcode::xor_:
      return flow_rule::all;
    case opcode::mad:
      return flow_rule::addend;
    case opcode::mul:
    case opcode::shl:
    case opcode::shr:
    case opcode::bfe:
    case opcode::div:
    case opcode::rem:
      return flow_rule::none;
    default:
      return flow_rule::unknown;
  }
}

}  // namespace

pointer_bases::pointer_bases(const ptx::module& owner, const ptx::function& function)
    : owner_{owner}, function_{function}, registers_(function.registers.size()) {
  for (const ptx::instruction& instr : function.instructions) {
    for (const ptx::operand& o : function.operands_of(instr)) {
      if (const ptx::variable* v = variable_of(owner, function, o)) bit_of({v, 0});
      if (!is_parameter(o)) continue;
      const std::uint64_t at = function.parameters[o.index].offset;
      bit_of({nullptr, at + static_cast<std::uint64_t>(o.value)});
    }
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const ptx::instruction& instr : function.instructions) has_changed |= add_results(instr);
  }
}

pointer_bases::set pointer_bases::bit_of(const base& each) {
  auto match = std::ranges::find(all_, each);
  if (match == all_.end()) match = all_.insert(match, each);
  return set{1} << std::min<std::ptrdiff_t>(match - all_.begin(), 63);
}

pointer_bases::set pointer_bases::of_symbol(const ptx::operand& o) const {
  base key{variable_of(owner_, function_, o), 0};
  if (o.symbol == symbol_kind::parameter) {
    key.offset = function_.parameters[o.index].offset + static_cast<std::uint64_t>(o.value);
  } else if (!key.variable) {
    return other;
  }
  const auto match = std::ranges::find(all_, key);
  return match - all_.begin() < 63 ? set{1} << (match - all_.begin()) : other;
}

pointer_bases::set pointer_bases::of_value(const ptx::operand& o) const {
  switch (o.kind) {
    case operand_kind::register_:
      return registers_[o.index];
    case operand_kind::symbol:
      return of_symbol(o);
    case operand_kind::vector: {
      set all = 0;
      for (const ptx::operand& each : function_.elements_of(o)) all |= of_value(each);
      return all;
    }
    default:
      return 0;
  }
}

// Returns whether a result is too small for a pointer to global memory.
bool pointer_bases::is_narrow(const ptx::instruction& instr) const {
  const ptx::mnemonic& m = owner_.mnemonic_of(instr);
  return m.type_count && ptx::info(m.type(0)).bits <= 32;
}

pointer_bases::set pointer_bases::of_result(const ptx::instruction& instr) const {
  const auto operands = function_.operands_of(instr);
  if (instr.opcode == opcode::ld && operands.size() == 2) {
    const bool is_single = operands[0].kind == operand_kind::register_;
    if (is_narrow(instr)) return 0;
    return is_single && is_parameter(operands[1]) ? of_symbol(operands[1]) : other;
  }
  const flow_rule rule = rule_of(instr.opcode);
  if (rule == flow_rule::none) return 0;
  if (rule == flow_rule::unknown) return is_narrow(instr) ? 0 : other;
  const std::size_t first = rule == flow_rule::addend ? 3 : 1;
  set all = 0;
  for (std::size_t n = first; n < operands.size(); ++n) all |= of_value(operands[n]);
  return all;
}

// Returns whether a register has new bases.
bool pointer_bases::add_results(const ptx::instruction& instr) {
  ptx::register_access access;
  ptx::find_register_access(owner_, function_, instr, access);
  const set result = of_result(instr);
  bool has_changed = false;
  for (const std::uint32_t written : access.writes) {
    has_changed |= (result & ~registers_[written]) != 0;
    registers_[written] |= result;
  }
  return has_changed;
}

pointer_bases::set pointer_bases::of_access(const ptx::instruction& instr) const {
  for (const ptx::operand& o : function_.operands_of(instr)) {
    if (o.kind != operand_kind::address) continue;
    if (o.base == ptx::address_base::register_) return registers_[o.index];
    return o.base == ptx::address_base::symbol ? of_symbol(o) : other;
  }
  return other;
}

}  // namespace halfwarp::emulator::exec
