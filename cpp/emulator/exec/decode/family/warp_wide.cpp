// SPDX-License-Identifier: Apache-2.0
// Decodes barriers and instructions that the lanes of a warp execute together.
#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/scalar/scalar.hpp"
#include "emulator/exec/schedule/barrier.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::operand_kind;
using ptx::qualifier;
using ptx::scalar_type;

// Emits a collective instruction. Forms without a member mask apply to the active lanes.
instruction& emit_collective(function_decoder& d, std::string_view handler_name,
                             const ptx::operand* members) {
  operand_slot mask = members ? d.value(*members, 32) : 0;
  instruction& instr = d.emit(handler_name);
  if (members) {
    instr.kind = flow::collective;
    instr.operand[4] = mask;
  }
  return instr;
}

// d|p
struct result_pair {
  const ptx::operand* value;
  const ptx::operand* predicate;  // may be null
};
result_pair pair_of(const function_decoder& d, const ptx::operand& o) {
  if (o.kind != operand_kind::pair) return {&o, nullptr};
  return {&d.elements(o)[0], &d.elements(o)[1]};
}

void set_predicate(function_decoder& d, instruction& instr, const ptx::operand* p) {
  if (p && p->kind != operand_kind::sink)
    instr.target = static_cast<std::uint32_t>(d.predicate(*p));
}

qualifier first_qualifier(const ptx::mnemonic& m, std::initializer_list<qualifier> choices) {
  for (qualifier q : choices) {
    if (m.has(q)) return q;
  }
  throw unsupported{"this form of the instruction"};
}

void decode_warp_barrier(function_decoder& d) { emit_collective(d, "nothing", &d.operand(0)); }

barrier_operation operation_of(const ptx::mnemonic& m) {
  if (m.has(qualifier::arrive)) return barrier_operation::arrive;
  if (!m.has(qualifier::red)) return barrier_operation::sync;
  if (m.has(qualifier::popc)) return barrier_operation::red_popc;
  return m.has(qualifier::and_) ? barrier_operation::red_and : barrier_operation::red_or;
}

// barrier.cluster.arrive{.release,.relaxed}{.aligned}; barrier.cluster.wait{.acquire}{.aligned}
void decode_cluster_barrier(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (m.has(qualifier::arrive) == m.has(qualifier::wait)) {
    throw unsupported{"barrier.cluster without one of .arrive and .wait"};
  }
  instruction& instr = d.emit(find_handler("nothing"), flow::barrier);
  instr.immediate = static_cast<std::int64_t>(
      m.has(qualifier::wait) ? barrier_operation::cluster_wait : barrier_operation::cluster_arrive);
  if (m.has(qualifier::aligned)) instr.flags = barrier_flag::aligned;
}

}  // namespace

// bar.sync a{, b}; bar.arrive a, b; bar.red.popc.u32 d, a{, b}, p; bar.red.and.pred p, a{, b}, q
void decode_bar(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (m.has(qualifier::warp)) return decode_warp_barrier(d);
  if (m.has(qualifier::cluster)) return decode_cluster_barrier(d);
  barrier_operation operation = operation_of(m);
  bool is_reduction = operation >= barrier_operation::red_popc;
  std::size_t next = is_reduction ? 1 : 0;
  std::size_t count_end = d.operands().size() - (is_reduction ? 1 : 0);
  operand_slot slots[4] = {};
  std::uint16_t flags = 0;
  slots[2] = d.value(d.operand(next++), 32);
  if (next < count_end) {
    slots[3] = d.value(d.operand(next++), 32);
    flags |= barrier_flag::has_count;
  }
  if (is_reduction) {
    const ptx::operand& source = d.operand(next);
    slots[1] = d.predicate_value(source);
    slots[0] = operation == barrier_operation::red_popc ? d.result(d.operand(0), 32)
                                                        : d.predicate(d.operand(0));
  }
  bool is_aligned = m.opcode == ptx::opcode::bar || m.has(qualifier::aligned);
  if (is_aligned) flags |= barrier_flag::aligned;
  instruction& instr = d.emit(find_handler("nothing"), flow::barrier);
  instr.operand = {slots[0], slots[1], slots[2], slots[3], 0};
  instr.flags = flags;
  instr.immediate = static_cast<std::int64_t>(operation);
}

void decode_nanosleep(function_decoder& d) { d.emit(find_handler("nothing"), flow::yield); }

// shfl.sync.MODE.b32 d|p, a, b, c, members
void decode_shfl(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  qualifier mode =
      first_qualifier(m, {qualifier::up, qualifier::down, qualifier::bfly, qualifier::idx});
  result_pair to = pair_of(d, d.operand(0));
  operand_slot a = d.value(d.operand(1), 32), b = d.value(d.operand(2), 32);
  operand_slot c = d.value(d.operand(3), 32), result = d.result(*to.value, 32);
  const ptx::operand* members = m.has(qualifier::sync) ? &d.operand(4) : nullptr;
  if (!members) throw unsupported{"shfl without .sync"};
  instruction& instr =
      emit_collective(d, "shfl." + std::string(ptx::spelling(mode)) + ".b32", members);
  operand_slot mask = instr.operand[4];
  instr.operand = {result, a, b, c, mask};
  set_predicate(d, instr, to.predicate);
}

// vote.sync.MODE.TYPE d, p, members
void decode_vote(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  qualifier mode =
      first_qualifier(m, {qualifier::all, qualifier::any, qualifier::uni, qualifier::ballot});
  if (!m.has(qualifier::sync)) throw unsupported{"vote without .sync"};
  operand_slot source = d.predicate_value(d.operand(1));
  bool is_ballot = mode == qualifier::ballot;
  operand_slot result = is_ballot ? d.result(d.operand(0), 32) : d.predicate(d.operand(0));
  std::string name = "vote." + std::string(ptx::spelling(mode)) + (is_ballot ? ".b32" : ".pred");
  instruction& instr = emit_collective(d, name, &d.operand(2));
  instr.operand[0] = result;
  instr.operand[1] = source;
}

// match.any.sync.TYPE d, a, members; match.all.sync.TYPE d|p, a, members
void decode_match(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  int bits = bits_of(m.type(0));
  result_pair to = pair_of(d, d.operand(0));
  operand_slot a = d.value(d.operand(1), bits, m.type(0)), result = d.result(*to.value, 32);
  std::string mode = m.has(qualifier::any) ? "any." : "all.";
  instruction& instr = emit_collective(d, "match." + mode + bits_name(bits), &d.operand(2));
  instr.operand[0] = result;
  instr.operand[1] = a;
  set_predicate(d, instr, to.predicate);
}

void decode_redux(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  qualifier operation = first_qualifier(m, {qualifier::add, qualifier::min, qualifier::max,
                                            qualifier::and_, qualifier::or_, qualifier::xor_});
  operand_slot a = d.value(d.operand(1), 32), result = d.result(d.operand(0), 32);
  if (m.type(0) == scalar_type::f32) {
    const operand_slot members = d.value(d.operand(2), 32);
    instruction& floats = d.emit(&run_reduce_floats, flow::collective);
    floats.operand = {result, a, 0, 0, members};
    floats.immediate = operation == qualifier::max;
    floats.flags = float_flags(m);
    if (m.has(qualifier::abs)) floats.flags |= float_flag::xorsign_abs;
    return;
  }
  instruction& instr = emit_collective(d,
                                       "redux." + std::string(ptx::spelling(operation)) + "." +
                                           std::string(ptx::spelling(m.type(0))),
                                       &d.operand(2));
  instr.operand[0] = result;
  instr.operand[1] = a;
}

void decode_activemask(function_decoder& d) {
  d.emit("activemask.b32", {d.result(d.operand(0), 32)});
}

// elect.sync d|p, members
void decode_elect(function_decoder& d) {
  result_pair to = pair_of(d, d.operand(0));
  operand_slot result = d.result(*to.value, 32);
  instruction& instr = emit_collective(d, "elect.sync", &d.operand(1));
  instr.operand[0] = result;
  set_predicate(d, instr, to.predicate);
}

}  // namespace halfwarp::emulator::exec
