// SPDX-License-Identifier: Apache-2.0
// Decodes branches, calls, returns and traps.
#include "emulator/exec/builtin/builtin.hpp"
#include "emulator/exec/builtin/stack.hpp"
#include "emulator/exec/decode/opcodes.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::operand_kind;
using ptx::symbol_kind;
using place = parameter_copy::place;

struct call_operands {
  std::span<const ptx::operand> results, arguments;
  const ptx::operand* target = nullptr;
};

// call (results), target, (arguments), prototype: all but the target are optional.
call_operands split(const function_decoder& d) {
  call_operands parts;
  for (const ptx::operand& o : d.operands()) {
    if (o.kind != operand_kind::list) {
      if (!parts.target) parts.target = &o;
    } else if (!parts.target) {
      parts.results = d.elements(o);
    } else {
      parts.arguments = d.elements(o);
    }
  }
  if (!parts.target) throw unsupported{"call without target"};
  return parts;
}

std::uint32_t bytes_of(const ptx::variable& v) {
  std::uint64_t bytes = v.size ? v.size : ptx::size_in_bytes(v.type);
  if (bytes > max_frame_bytes)
    throw unsupported{"parameter of " + std::to_string(bytes) + " bytes"};
  return static_cast<std::uint32_t>(bytes);
}

// Sets one side of a copy: a .param variable in the caller's frame, or a register.
void set_actual(function_decoder& d, const ptx::operand& o, bool is_result, std::uint32_t bytes,
                place& kind, std::int32_t& at) {
  bool is_variable = o.kind == operand_kind::symbol && o.symbol != symbol_kind::function;
  if (is_variable) {
    kind = place::memory;
    at = static_cast<std::int32_t>(d.frame_offset(o.symbol, o.index));
    if (d.frame_variable(o.symbol, o.index).size < bytes) {
      throw unsupported{"the variable '" + std::string(o.name) + "' is smaller than the parameter"};
    }
    return;
  }
  int bits = static_cast<int>(bytes) * 8;
  kind = place::slot;
  at = is_result ? d.result(o, bits) : d.value(o, bits);
}

std::vector<parameter_copy> decode_copies(function_decoder& d, std::span<const ptx::operand> actual,
                                          std::span<const ptx::variable> formal, bool is_result) {
  if (actual.size() != formal.size()) throw unsupported{"number of parameters of a call"};
  std::vector<parameter_copy> copies;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    parameter_copy& c = copies.emplace_back();
    c.bytes = bytes_of(formal[i]);
    const bool is_register = formal[i].space == ptx::state_space::reg;
    if (is_result) {
      set_actual(d, actual[i], true, c.bytes, c.to_place, c.to);
      c.from = static_cast<std::int32_t>(i);
      if (is_register) c.from_place = place::slot;
    } else {
      set_actual(d, actual[i], false, c.bytes, c.from_place, c.from);
      c.to = static_cast<std::int32_t>(i);
      if (is_register) c.to_place = place::slot;
    }
  }
  return copies;
}

std::uint32_t label_of(const function_decoder& d, const ptx::operand& o) {
  if (o.kind != operand_kind::symbol || o.symbol != symbol_kind::label) {
    throw unsupported{"branch target"};
  }
  if (o.index >= d.source().labels.size()) throw unsupported{"branch target"};
  return o.index;
}

}  // namespace

void decode_bra(function_decoder& d) { d.branch_to(label_of(d, d.operand(0))); }

// brx.idx index, list: emits one comparison and branch per target.
void decode_brx(function_decoder& d) {
  const ptx::operand& list = d.operand(1);
  bool is_list = list.kind == operand_kind::symbol && list.symbol == symbol_kind::target_list &&
                 !d.source().target_lists.at(list.index).is_call;
  if (!is_list) throw unsupported{"list of branch targets"};
  operand_slot index = d.value(d.operand(0), 32);
  const ptx::target_list& targets = d.source().target_lists.at(list.index);
  operand_slot is_match = d.temporary_predicate();
  for (std::size_t i = 0; i < targets.indices.size(); ++i) {
    if (targets.indices[i] >= d.source().labels.size()) throw unsupported{"branch target"};
    d.emit("set.pred", {is_match}).immediate = 0;
    emit_comparison(d, ptx::qualifier::eq, ptx::scalar_type::b32, false, is_match, index,
                    d.constant(i, 32));
    d.branch_to(targets.indices[i], is_match, false);
  }
}

namespace {

// call (results), register, (arguments), prototype
void decode_indirect_call(function_decoder& d, const call_operands& parts) {
  const ptx::operand& last = d.operands().back();
  if (last.kind != operand_kind::symbol || last.symbol != symbol_kind::prototype) {
    throw unsupported{"indirect call without a prototype"};
  }
  const ptx::call_prototype& prototype = d.source().prototypes.at(last.index);
  call_site site;
  site.is_indirect = true;
  site.arguments = decode_copies(d, parts.arguments, prototype.parameters, false);
  site.results = decode_copies(d, parts.results, prototype.return_parameters, true);
  operand_slot target = d.value(*parts.target, 64);
  std::uint32_t index = d.call_count();
  d.new_call() = std::move(site);
  instruction& instr = d.emit(nullptr, flow::call);
  instr.target = index;
  instr.operand[0] = target;
}

}  // namespace

void decode_call(function_decoder& d) {
  call_operands parts = split(d);
  const ptx::operand& target = *parts.target;
  if (target.kind == operand_kind::register_) return decode_indirect_call(d, parts);
  if (target.kind != operand_kind::symbol || target.symbol != symbol_kind::function) {
    throw unsupported{"call of this target"};
  }
  const ptx::function& callee = d.owner().source->functions[target.index];
  if (callee.is_entry) throw unsupported{"call of a kernel"};
  const builtin_function* builtin = callee.is_definition ? nullptr : find_builtin(callee.name);
  if (!callee.is_definition && !builtin) {
    throw unsupported{"the function '" + std::string(callee.name) + "' is not defined"};
  }
  call_site site;
  site.arguments = decode_copies(d, parts.arguments, callee.parameters, false);
  site.results = decode_copies(d, parts.results, callee.return_parameters, true);
  if (builtin && !accepts(*builtin, site)) {
    throw unsupported{"'" + std::string(callee.name) + "' declared with other parameters"};
  }
  if (!builtin) site.callee = d.layout().index_of(target.index);
  site.is_builtin = builtin != nullptr;
  std::uint32_t index = d.call_count();
  d.new_call() = std::move(site);
  instruction& instr = builtin ? d.emit(builtin->run, flow::builtin) : d.emit(nullptr, flow::call);
  instr.target = index;
}

namespace {

operand_slot emit_zero_extended(function_decoder& d, operand_slot from, int bits) {
  if (bits == 64) return from;
  const operand_slot wide = d.temporary(64);
  d.emit("extend.u32.b64", {wide, from});
  return wide;
}

// Emits an instruction of the dynamic stack with a result of `bits` bits.
instruction& emit_stack_result(function_decoder& d, handler run, int bits, operand_slot size) {
  const operand_slot to = bits == 64 ? d.result(d.operand(0), 64) : d.temporary(64);
  instruction& instr = d.emit(run, flow::next);
  instr.operand = {to, size};
  d.use_dynamic_stack();
  return instr;
}

void emit_narrow_result(function_decoder& d, int bits, operand_slot wide) {
  if (bits == 32) d.emit("truncate.b64.b32", {d.result(d.operand(0), 32), wide});
}

}  // namespace

// alloca.{u32,u64} address, size{, alignment}
void decode_alloca(function_decoder& d) {
  const int bits = bits_of(d.spelling().type(0));
  std::int64_t alignment = 8;
  if (d.operands().size() == 3) alignment = d.operand(2).value;
  const bool is_alignment = d.operands().size() < 3 || d.operand(2).kind == operand_kind::integer;
  if (!is_alignment || alignment < 1 || alignment > 1 << 12 || (alignment & (alignment - 1))) {
    throw unsupported{"this alignment"};
  }
  const operand_slot size = emit_zero_extended(d, d.value(d.operand(1), bits), bits);
  instruction& instr = emit_stack_result(d, &run_alloca, bits, size);
  instr.immediate = alignment;
  emit_narrow_result(d, bits, instr.operand[0]);
}

void decode_stacksave(function_decoder& d) {
  const int bits = bits_of(d.spelling().type(0));
  const instruction& instr = emit_stack_result(d, &run_stacksave, bits, 0);
  emit_narrow_result(d, bits, instr.operand[0]);
}

void decode_stackrestore(function_decoder& d) {
  const int bits = bits_of(d.spelling().type(0));
  const operand_slot saved = emit_zero_extended(d, d.value(d.operand(0), bits), bits);
  d.emit(&run_stackrestore, flow::next).operand = {0, saved};
  d.use_dynamic_stack();
}

void decode_ret(function_decoder& d) { d.emit(nullptr, d.is_entry() ? flow::exit : flow::ret); }
void decode_exit(function_decoder& d) { d.emit(nullptr, flow::exit); }
void decode_trap(function_decoder& d) { d.emit(&run_trap, flow::next); }

}  // namespace halfwarp::emulator::exec
