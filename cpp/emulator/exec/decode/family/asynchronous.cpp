// SPDX-License-Identifier: Apache-2.0
// Decodes asynchronous copies, barriers in shared memory and what surrounds them.
#include "emulator/exec/async/async.hpp"
#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "emulator/memory/address_space.hpp"

namespace halfwarp::emulator::exec {
using ptx::operand_kind;
using ptx::qualifier;
using ptx::scalar_type;
using ptx::state_space;

using address = function_decoder::address;

// Adds the displacement, modulo the width of the register.
operand_slot emit_whole_address(function_decoder& d, const address& at) {
  if (at.displacement == 0) return at.base;
  const int bits = at.is_narrow ? 32 : 64;
  const operand_slot sum = d.temporary(bits);
  d.emit("add." + bits_name(bits), {sum, at.base, d.constant(at.displacement, bits)});
  return sum;
}

operand_slot emit_shared_offset(function_decoder& d, const ptx::operand& o, state_space space) {
  const address at = d.address_of(o, space);
  operand_slot slot = emit_whole_address(d, at);
  if (at.space == state_space::shared) {
    if (!at.is_narrow) return slot;
    const operand_slot wide = d.temporary(64);
    d.emit("extend.u32.b64", {wide, slot});
    return wide;
  }
  if (at.space != state_space::generic) throw unsupported{"an address outside of shared memory"};
  const operand_slot offset = d.temporary(64);
  d.emit("sub.b64", {offset, slot, d.constant(d.owner().space->shared_window(), 64)});
  return offset;
}

namespace {

int copy_bytes(const function_decoder& d, const ptx::operand& o) {
  const bool is_size =
      o.kind == operand_kind::integer && (o.value == 4 || o.value == 8 || o.value == 16);
  if (!is_size || (d.spelling().has(qualifier::cg) && o.value != 16)) {
    throw unsupported{"a copy of this size"};
  }
  return static_cast<int>(o.value);
}

void require_copy_form(const ptx::mnemonic& m) {
  const bool has_spaces =
      m.space_count == 2 &&
      (m.space(0) == state_space::shared || m.space(0) == state_space::shared_cta) &&
      m.space(1) == state_space::global;
  if (!has_spaces) throw unsupported{"cp.async between other spaces"};
  if (m.has(qualifier::ca) == m.has(qualifier::cg))
    throw unsupported{"cp.async without .ca or .cg"};
}

// cp.async.{ca,cg}.shared.global{.hints} [to], [from], bytes{, size or predicate}{, policy}
void decode_copy(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  require_copy_form(m);
  const int bytes = copy_bytes(d, d.operand(2));
  const std::size_t end = d.operands().size() - (m.has(qualifier::L2_cache_hint) ? 1 : 0);
  if (end != 3 && end != 4) throw unsupported{"number of operands"};
  auto flags = static_cast<std::uint16_t>(bytes);
  operand_slot size = 0;
  if (end == 4 && d.is_predicate(d.operand(3))) {
    flags |= copy_flag::has_predicate;
    size = d.predicate_value(d.operand(3));
  } else if (end == 4) {
    flags |= copy_flag::has_size;
    size = d.value(d.operand(3), 32, scalar_type::u32);
  }
  const operand_slot to = emit_shared_offset(d, d.operand(0), m.space(0));
  const address from = d.address_of(d.operand(1), state_space::global);
  if (from.space != state_space::global) throw unsupported{"a source outside of global memory"};
  instruction& instr = d.emit(&run_copy, flow::next);
  instr.operand = {to, size, 0, 0, from.base};
  instr.immediate = static_cast<std::int64_t>(from.displacement);
  instr.flags = flags;
  instr.cache = d.new_range_cache();
}

void decode_copy_arrive(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (!m.has(qualifier::arrive) || m.type(0) != scalar_type::b64)
    throw unsupported{"this form of cp.async"};
  const operand_slot at = emit_shared_offset(d, d.operand(0), m.space(0));
  instruction& instr = d.emit(&run_copy_arrive, flow::next);
  instr.operand = {no_result, 0, 0, 0, at};
  instr.immediate = static_cast<std::int64_t>(phase_operation::arrive_after_copies);
  if (!m.has(qualifier::noinc)) instr.flags = phase_flag::adds_pending;
}

}  // namespace

void decode_cp_async(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (!m.has(qualifier::async)) throw unsupported{"cp without .async"};
  if (m.has(qualifier::bulk)) return decode_bulk(d);
  if (m.has(qualifier::mbarrier)) return decode_copy_arrive(d);
  if (m.has(qualifier::commit_group)) {
    d.emit(&run_commit_copies, flow::next);
  } else if (m.has(qualifier::wait_all)) {
    d.emit(&run_wait_copies, flow::next).immediate = -1;
  } else if (m.has(qualifier::wait_group)) {
    const ptx::operand& groups = d.operand(0);
    if (groups.kind != operand_kind::integer || groups.value < 0) {
      throw unsupported{"a number of groups that is not a constant"};
    }
    d.emit(&run_wait_copies, flow::next).immediate = groups.value;
  } else {
    decode_copy(d);
  }
}

namespace {

phase_operation operation_of(const ptx::mnemonic& m) {
  constexpr std::pair<qualifier, phase_operation> operations[] = {
      {qualifier::init, phase_operation::init},
      {qualifier::inval, phase_operation::invalidate},
      {qualifier::arrive, phase_operation::arrive},
      {qualifier::arrive_drop, phase_operation::arrive_drop},
      {qualifier::pending_count, phase_operation::pending_count},
      {qualifier::complete_tx, phase_operation::complete},
      {qualifier::expect_tx, phase_operation::expect},
  };
  for (auto [word, operation] : operations) {
    if (m.has(word)) return operation;
  }
  return m.has(qualifier::parity) ? phase_operation::test_parity : phase_operation::test;
}

bool is_shared_or_generic(state_space space) {
  return space == state_space::generic || ptx::without_sub_space(space) == state_space::shared;
}

// Sets result and count of arrive{.noComplete,.expect_tx} token, [at]{, count}.
void set_arrival(function_decoder& d, std::array<operand_slot, 5>& slots, std::uint16_t& flags) {
  const ptx::mnemonic& m = d.spelling();
  const bool has_count = d.operands().size() == 3;
  if (m.has(qualifier::noComplete)) flags |= phase_flag::must_not_complete;
  if (m.has(qualifier::expect_tx)) flags |= phase_flag::expects;
  const bool needs_count = m.has(qualifier::noComplete) || m.has(qualifier::expect_tx);
  if (needs_count && !has_count) throw unsupported{"number of operands"};
  const bool is_sink = d.operand(0).kind == operand_kind::sink;
  if (!is_sink && m.space(0) == state_space::shared_cluster) {
    throw unsupported{"a token of a barrier in shared::cluster"};
  }
  slots[1] = has_count ? d.value(d.operand(2), 32, scalar_type::u32) : d.constant(1, 32);
  slots[0] = is_sink ? no_result : d.result(d.operand(0), 64);
}

// Sets result and token or parity of {test_wait,try_wait}{.parity} p, [at], token{, limit}.
void set_test(function_decoder& d, std::array<operand_slot, 5>& slots, bool is_parity) {
  if (d.spelling().space(0) == state_space::shared_cluster) {
    throw unsupported{"a wait for a barrier in shared::cluster"};
  }
  slots[1] = d.value(d.operand(2), is_parity ? 32 : 64);
  slots[0] = d.predicate(d.operand(0));
}

}  // namespace

void decode_mbarrier(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  const phase_operation operation = operation_of(m);
  const bool is_count = operation == phase_operation::pending_count;
  if (m.vector_width > 1 || !is_shared_or_generic(m.space(0)) ||
      (m.type_count && m.type(0) != scalar_type::b64)) {
    throw unsupported{"this form of mbarrier"};
  }
  const bool is_arrival =
      operation == phase_operation::arrive || operation == phase_operation::arrive_drop;
  const bool is_test =
      operation == phase_operation::test || operation == phase_operation::test_parity;
  std::array<operand_slot, 5> slots{};
  std::uint16_t flags = 0;
  if (is_count) {
    slots[1] = d.value(d.operand(1), 64);
    slots[0] = d.result(d.operand(0), 32);
  } else {
    slots[4] = emit_shared_offset(d, d.operand(is_arrival || is_test ? 1 : 0), m.space(0));
  }
  if (is_arrival) set_arrival(d, slots, flags);
  if (is_test) set_test(d, slots, operation == phase_operation::test_parity);
  if (!is_count && !is_arrival && !is_test && d.operands().size() == 2) {
    slots[1] = d.value(d.operand(1), 32, scalar_type::u32);
  }
  // Other warps run after a try_wait, since they may complete the phase.
  instruction& instr =
      d.emit(&run_phase_barrier, m.has(qualifier::try_wait) ? flow::yield : flow::next);
  instr.operand = slots;
  instr.flags = flags;
  instr.immediate = static_cast<std::int64_t>(operation);
}

// A grid starts after all work before it has completed, so there is nothing to wait for.
void decode_griddepcontrol(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (m.has(qualifier::wait) == m.has(qualifier::launch_dependents)) {
    throw unsupported{"griddepcontrol without one of .wait and .launch_dependents"};
  }
  d.emit("fence");
}

namespace {

// Emits the offset in the shared window of an operand, which may be a register or a variable.
operand_slot emit_window_offset(function_decoder& d, const ptx::operand& o, bool is_generic,
                                int bits) {
  const operand_slot value = d.value(o, bits);
  const operand_slot wide = d.temporary(64);
  if (bits == 32) {
    d.emit("extend.u32.b64", {wide, value});
  } else {
    const bool is_variable = o.kind == operand_kind::symbol;
    const std::uint64_t first =
        is_generic && !is_variable ? d.owner().space->shared_window() : std::uint64_t{0};
    d.emit("sub.b64", {wide, value, d.constant(first, 64)});
  }
  return wide;
}

}  // namespace

// mapa{.shared::cluster}.{u32,u64} d, a, rank
void decode_mapa(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  const bool is_generic = m.space_count == 0;
  const int bits = bits_of(m.type(0));
  const operand_slot rank = d.value(d.operand(2), 32);
  const operand_slot offset = emit_window_offset(d, d.operand(1), is_generic, bits);
  const operand_slot mapped = d.temporary(64);
  d.emit(&run_mapa, flow::next).operand = {mapped, rank, 0, 0, offset};
  if (bits == 32) {
    d.emit("truncate.b64.b32", {d.result(d.operand(0), 32), mapped});
    return;
  }
  const std::uint64_t first = is_generic ? d.owner().space->shared_window() : std::uint64_t{0};
  d.emit("add.b64", {d.result(d.operand(0), 64), mapped, d.constant(first, 64)});
}

// getctarank{.shared::cluster}.{u32,u64} d, a
void decode_getctarank(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  const operand_slot offset =
      emit_window_offset(d, d.operand(1), m.space_count == 0, bits_of(m.type(0)));
  d.emit(&run_getctarank, flow::next).operand = {d.result(d.operand(0), 32), 0, 0, 0, offset};
}

// A policy has no effect, so every policy is the same token.
void decode_createpolicy(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  constexpr std::uint64_t token = 0x12f0'0000'0000'0000;
  if (m.type(0) != scalar_type::b64) throw unsupported{"this type"};
  const int forms = m.has(qualifier::fractional) + m.has(qualifier::range) + m.has(qualifier::cvt);
  if (forms != 1) throw unsupported{"this form of createpolicy"};
  const std::size_t operands = d.operands().size();
  const bool has_count = m.has(qualifier::range) ? operands == 4
                         : m.has(qualifier::cvt) ? operands == 2
                                                 : operands == 1 || operands == 2;
  if (!has_count) throw unsupported{"number of operands"};
  d.emit("mov.b64", {d.result(d.operand(0), 64), d.constant(token, 64)});
}

}  // namespace halfwarp::emulator::exec
