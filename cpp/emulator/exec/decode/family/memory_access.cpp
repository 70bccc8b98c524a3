// SPDX-License-Identifier: Apache-2.0
// Decodes loads, stores, atomic operations and fences.
#include <algorithm>
#include <string>
#include <string_view>

#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/exec/scalar/scalar.hpp"
#include "emulator/memory/address_space.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::operand_kind;
using ptx::qualifier;
using ptx::scalar_type;
using ptx::state_space;

using address = function_decoder::address;

// Returns the space in the names of handlers: "global", "shared32", "local" or "param".
std::string space_name(const function_decoder& d, const address& at) {
  switch (at.space) {
    case state_space::shared:
      return at.is_narrow ? "shared32" : "shared64";
    case state_space::local:
      return "local";
    case state_space::param:
      return d.parameters_in_frame() || at.is_frame_relative ? "local" : "param";
    default:
      return "global";
  }
}

// Returns the registers of a load or store: one operand, or the elements of a vector.
std::span<const ptx::operand> registers_of(const function_decoder& d, const ptx::operand& o) {
  auto registers = o.kind == operand_kind::vector ? d.elements(o) : std::span{&o, 1};
  if (registers.size() != d.spelling().vector_width) throw unsupported{"vector of another length"};
  return registers;
}

int register_width(const function_decoder& d, std::span<const ptx::operand> registers, int bits) {
  int width = std::max(bits, 16);
  for (const ptx::operand& o : registers) width = std::max(width, d.register_bits(o));
  return width;
}

// Registers per decoded instruction. A .v8 access becomes two instructions.
constexpr std::size_t max_registers = 4;

// Returns the generic address of an address in the shared memory of a cluster.
address in_cluster(function_decoder& d, const ptx::operand& o) {
  address at;
  at.base = d.temporary(64);
  d.emit("add.b64", {at.base, emit_shared_offset(d, o, state_space::shared_cluster),
                     d.constant(d.owner().space->shared_window(), 64)});
  return at;
}

address accessed(function_decoder& d, const ptx::operand& o) {
  const state_space space = d.spelling().space(0);
  return space == state_space::shared_cluster ? in_cluster(d, o) : d.address_of(o, space);
}

// A register of 128 bits is accessed as a vector of its halves.
void access_wide(function_decoder& d, const char* name, const ptx::operand& value,
                 const ptx::operand& place) {
  const ptx::mnemonic& m = d.spelling();
  if (m.vector_width > 1) throw unsupported{"a vector of this type"};
  const address at = accessed(d, place);
  const operand_slot low = d.half(value, 0), high = d.half(value, 1);
  if (m.has(qualifier::release)) d.emit("fence");
  instruction& instr = d.emit(name + space_name(d, at) + ".u64.b64");
  instr.operand = {low, high};
  set_address(d, instr, at, 2, 64);
  if (m.has(qualifier::acquire)) d.emit("fence");
}

// atom.{exch,cas}.b128 d, [a], b{, c}
void decode_wide_atom(function_decoder& d, qualifier operation) {
  const bool compares = operation == qualifier::cas;
  const ptx::mnemonic& m = d.spelling();
  if ((!compares && operation != qualifier::exch) || m.opcode != ptx::opcode::atom) {
    throw unsupported{"this operation on 128 bits"};
  }
  const bool is_shared = ptx::without_sub_space(m.space(0)) == state_space::shared;
  const address at = is_shared ? in_cluster(d, d.operand(1)) : accessed(d, d.operand(1));
  const bool has_result = d.operand(0).kind != operand_kind::sink;
  const operand_slot b = d.half(d.operand(2), 0);
  const operand_slot c = compares ? d.half(d.operand(3), 0) : b;
  const operand_slot result = has_result ? d.half(d.operand(0), 0) : 0;
  instruction& instr = d.emit(&run_wide_atomic, flow::next);
  instr.operand = {result, b, c, has_result ? 1 : 0};
  set_address(d, instr, at, 1, 128);
  instr.target = compares;
}

// Returns a mask of the registers of a load that get a used byte.
std::uint32_t used_registers(const function_decoder& d, std::size_t count, std::size_t bytes) {
  const std::uint32_t mask = d.used_bytes(), of_first = (1u << bytes) - 1;
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if ((mask >> i * bytes & of_first) != 0) used |= 1u << i;
  }
  return used;
}

}  // namespace

void set_address(function_decoder& d, instruction& instr, const address& at, std::uint32_t count,
                 int bits) {
  const std::uint64_t bytes = std::uint64_t{count} * static_cast<std::uint64_t>(bits) / 8;
  if (at.is_bounded() && !at.contains(bytes)) {
    throw unsupported{"the access is outside the parameters"};
  }
  instr.operand[4] = at.base;
  instr.immediate = static_cast<std::int64_t>(at.displacement);
  instr.flags = static_cast<std::uint16_t>(count);
  if (at.is_frame_relative) instr.flags |= access_flag::frame_relative;
  bool is_named = at.space == state_space::global || at.space == state_space::const_;
  if (is_named) instr.flags |= access_flag::global_only;
  instr.cache = d.new_range_cache();
}

// Most hosts reorder plain loads and stores, so .acquire and .release add a fence. Atomic
// operations need none, because they are sequentially consistent.
void decode_ld(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  scalar_type type = m.type(0);
  int bits = bits_of(type);
  if (bits == 128) return access_wide(d, "ld.", d.operand(0), d.operand(1));
  auto registers = registers_of(d, d.operand(0));
  address at = accessed(d, d.operand(1));
  int width = register_width(d, registers, bits);
  bool is_extended = ptx::is_signed(type) && width > bits;
  std::string name = "ld." + space_name(d, at) + (is_extended ? ".s" : ".u") +
                     std::to_string(bits) + "." + bits_name(width);
  const std::size_t bytes = static_cast<std::size_t>(bits) / 8;
  const std::uint32_t used = used_registers(d, registers.size(), bytes);
  const auto uses = [&](std::size_t first, std::size_t count) {
    const std::uint32_t part = ((1u << count) - 1) << first;
    return (used & part) == part;
  };
  const address start = at;
  for (std::size_t first = 0, count = 0; first < registers.size(); first += count) {
    count = max_registers;  // less if it needs more alignment than the whole, or not all are used
    while (count > 1 && (first % count != 0 || !uses(first, count))) count /= 2;
    if (!uses(first, count)) continue;
    auto part = registers.subspan(first, count);
    std::array<operand_slot, 5> slots{};
    for (std::size_t i = 0; i < part.size(); ++i) slots[i] = d.result(part[i], width);
    instruction& instr = d.emit(name);
    instr.operand = slots;
    at.displacement = start.displacement + first * bytes;
    set_address(d, instr, at, static_cast<std::uint32_t>(part.size()), bits);
  }
  if (m.has(qualifier::acquire)) d.emit("fence");
}

void decode_st(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (m.has(qualifier::async)) return decode_async_store(d);
  if (m.has(qualifier::bulk)) return decode_bulk_store(d);
  scalar_type type = m.type(0);
  int bits = bits_of(type);
  if (bits == 128) return access_wide(d, "st.", d.operand(1), d.operand(0));
  auto registers = registers_of(d, d.operand(1));
  address at = accessed(d, d.operand(0));
  int width = register_width(d, registers, bits);
  std::string name =
      "st." + space_name(d, at) + ".u" + std::to_string(bits) + "." + bits_name(width);
  if (m.has(qualifier::release)) d.emit("fence");
  for (std::size_t first = 0; first < registers.size(); first += max_registers) {
    auto part = registers.subspan(first, std::min(max_registers, registers.size() - first));
    std::array<operand_slot, 5> slots{};
    for (std::size_t i = 0; i < part.size(); ++i) slots[i] = d.value(part[i], width, type);
    instruction& instr = d.emit(name);
    instr.operand = slots;
    set_address(d, instr, at, static_cast<std::uint32_t>(part.size()), bits);
    at.displacement += part.size() * static_cast<std::uint64_t>(bits) / 8;
  }
}

namespace {

qualifier atomic_operation_of(const ptx::mnemonic& m) {
  constexpr qualifier operations[] = {
      qualifier::add, qualifier::and_, qualifier::cas, qualifier::dec, qualifier::exch,
      qualifier::inc, qualifier::max,  qualifier::min, qualifier::or_, qualifier::xor_};
  auto operation = std::find_if(std::begin(operations), std::end(operations),
                                [&](qualifier q) { return m.has(q); });
  if (operation == std::end(operations)) throw unsupported{"this form of atomic operation"};
  return *operation;
}

std::string atomic_name(qualifier operation, scalar_type type, state_space space) {
  bool is_arithmetic =
      operation == qualifier::add || operation == qualifier::min || operation == qualifier::max;
  bool is_wrapping = operation == qualifier::add && !ptx::is_floating(type);
  std::string type_part =
      is_arithmetic && !is_wrapping ? std::string(ptx::spelling(type)) : bits_name(bits_of(type));
  const char* space_part = space == state_space::shared ? "shared." : "global.";
  return std::string("atom.") + space_part + std::string(ptx::spelling(operation)) + "." +
         type_part;
}

// Each element of a vector is atomic. The address is aligned to the whole vector.
void decode_vector_atom(function_decoder& d, qualifier operation, address at, std::size_t first) {
  const ptx::mnemonic& m = d.spelling();
  const scalar_type type = m.type(0);
  const int bits = bits_of(type);
  const std::uint32_t width = m.vector_width, bytes = width * static_cast<std::uint32_t>(bits) / 8;
  const bool is_global = at.space == state_space::global || at.space == state_space::generic;
  if (!is_global || m.has(qualifier::cas) || bytes > 16 || !ptx::is_floating(type)) {
    throw unsupported{"a vector with this atomic operation"};
  }
  const std::string name = atomic_name(operation, type, at.space);
  const auto sources = registers_of(d, d.operand(first + 1));
  instruction& check = d.emit("check.global");
  set_address(d, check, at, 1, 0);
  check.target = bytes;
  for (std::uint32_t i = 0; i < width; ++i) {
    const operand_slot b = d.value(sources[i], bits, type);
    const operand_slot to =
        first ? d.result(registers_of(d, d.operand(0))[i], bits) : d.temporary(bits);
    const bool is_sum = operation == qualifier::add;
    instruction& instr = is_sum ? d.emit(name) : d.emit(&run_half_extreme, flow::next);
    instr.operand = {to, b, b};
    set_address(d, instr, at, 1, bits);
    if (!is_sum) {
      const bool is_bfloat = type == scalar_type::bf16 || type == scalar_type::bf16x2;
      instr.operand[2] =
          static_cast<operand_slot>(is_bfloat ? scalar_type::bf16 : scalar_type::f16);
      instr.operand[3] = operation == qualifier::max;
      instr.target = static_cast<std::uint32_t>(bits / 8);
    }
    at.displacement += static_cast<std::uint64_t>(bits) / 8;
  }
}

}  // namespace

// atom.SPACE.OP.TYPE d, [a], b, c and red.SPACE.OP.TYPE [a], b
void decode_atom(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (m.has(qualifier::async)) return decode_async_store(d);
  scalar_type type = m.type(0);
  int bits = bits_of(type);
  bool has_result = m.opcode == ptx::opcode::atom;
  std::size_t first = has_result ? 1 : 0;
  const qualifier operation = atomic_operation_of(m);
  if (bits == 128) return decode_wide_atom(d, operation);
  address at = accessed(d, d.operand(first));
  if (m.vector_width > 1) return decode_vector_atom(d, operation, at, first);
  if (at.space == state_space::shared && at.is_narrow) {
    operand_slot wide = d.temporary(64);
    d.emit("extend.u32.b64", {wide, at.base});
    at.base = wide;
    at.is_narrow = false;
  }
  operand_slot b = d.value(d.operand(first + 1), bits, type);
  operand_slot c = operation == qualifier::cas ? d.value(d.operand(first + 2), bits, type) : b;
  operand_slot result = has_result ? d.result(d.operand(0), bits) : d.temporary(bits);
  bool is_in_frame = at.space == state_space::local || at.space == state_space::param;
  if (is_in_frame) throw unsupported{"atomic operation on memory of one thread"};
  instruction& instr = d.emit(atomic_name(operation, type, at.space), {result, b, c});
  set_address(d, instr, at, 1, bits);
}

// Proxies share one memory, so a fence between them orders what any fence orders.
void decode_fence(function_decoder& d) {
  const bool has_address =
      d.spelling().has(qualifier::tensormap_generic) && d.spelling().has(qualifier::acquire);
  if (d.operands().size() != (has_address ? 2u : 0u)) throw unsupported{"number of operands"};
  d.emit("fence");
}

void decode_touch(function_decoder& d) {
  address at = d.address_of(d.operand(0), state_space::global);
  set_address(d, d.emit("touch.global"), at, 1, 0);
}

void decode_nothing(function_decoder&) {}

}  // namespace halfwarp::emulator::exec
