// SPDX-License-Identifier: Apache-2.0
// Decodes moves, conversions and reads of special registers: mov, cvt, cvta, isspacep.
#include <algorithm>

#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/exec/marks.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "emulator/exec/special.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::operand_kind;
using ptx::qualifier;
using ptx::scalar_type;
using ptx::state_space;

// Returns the bits of one element of a packed register.
int part_bits_of(std::span<const ptx::operand> parts, int bits) {
  if (parts.size() != 2 && parts.size() != 4) throw unsupported{"vector of this length"};
  return bits / static_cast<int>(parts.size());
}

void pack(function_decoder& d, const ptx::operand& from, int bits) {
  auto parts = d.elements(from);
  int part_bits = part_bits_of(parts, bits);
  operand_slot slots[4] = {};
  for (std::size_t i = 0; i < parts.size() && i < 4; ++i) slots[i] = d.value(parts[i], part_bits);
  d.emit("pack." + bits_name(part_bits) + "." + bits_name(bits),
         {d.result(d.operand(0), bits), slots[0], slots[1], slots[2], slots[3]});
}

void unpack(function_decoder& d, const ptx::operand& to, int bits) {
  auto parts = d.elements(to);
  int part_bits = part_bits_of(parts, bits);
  operand_slot source = d.value(d.operand(1), bits), slots[4] = {};
  for (std::size_t i = 0; i < parts.size() && i < 4; ++i) slots[i] = d.result(parts[i], part_bits);
  d.emit("unpack." + bits_name(bits) + "." + bits_name(part_bits),
         {source, slots[0], slots[1], slots[2], slots[3]});
}

// Moves the halves of 128 bits; a side may be a vector of two registers.
void move_wide(function_decoder& d, const ptx::operand& to, const ptx::operand& from) {
  const auto halves_of = [&](const ptx::operand& o) {
    const auto parts = d.elements(o);
    if (parts.size() != 2) throw unsupported{"vector of this length"};
    return parts;
  };
  for (int n = 0; n < 2; ++n) {
    const operand_slot source = from.kind == operand_kind::vector
                                    ? d.value(halves_of(from)[static_cast<std::size_t>(n)], 64)
                                    : d.half(from, n);
    const operand_slot result = to.kind == operand_kind::vector
                                    ? d.result(halves_of(to)[static_cast<std::size_t>(n)], 64)
                                    : d.half(to, n);
    d.emit("mov.b64", {result, source});
  }
}

// ---- cvt

bool is_half(scalar_type t) { return t == scalar_type::f16 || t == scalar_type::bf16; }

bool is_integral(const ptx::mnemonic& m) {
  return m.has(qualifier::rni) || m.has(qualifier::rzi) || m.has(qualifier::rmi) ||
         m.has(qualifier::rpi);
}

std::uint16_t conversion_flags(const ptx::mnemonic& m) {
  std::uint16_t flags = float_flags(m);
  if (m.has(qualifier::rzi)) flags |= 1;
  if (m.has(qualifier::rmi)) flags |= 2;
  if (m.has(qualifier::rpi)) flags |= 3;
  return flags;
}

std::string type_name(bool is_signed, int bits) {
  return (is_signed ? "s" : "u") + std::to_string(bits);
}

operand_slot extended(function_decoder& d, operand_slot from, bool is_signed, int from_bits,
                      int bits) {
  if (from_bits == bits) return from;
  operand_slot result = d.temporary(bits);
  d.emit("extend." + type_name(is_signed, from_bits) + "." + bits_name(bits), {result, from});
  return result;
}

void integer_to_integer(function_decoder& d, scalar_type to, scalar_type from) {
  int to_bits = bits_of(to), from_bits = bits_of(from);
  bool is_signed = ptx::is_signed(from);
  operand_slot source = d.value(d.operand(1), from_bits, from);
  if (d.spelling().has(qualifier::sat)) {
    operand_slot wide = extended(d, source, is_signed, from_bits, 64), clamped = d.temporary(64);
    d.emit("clamp." + type_name(is_signed, 64) + "." + std::string(ptx::spelling(to)),
           {clamped, wide});
    source = clamped;
    from_bits = 64;
  }
  operand_slot result = d.result(d.operand(0), to_bits, ptx::is_signed(to));
  if (to_bits == from_bits) {
    d.emit("mov." + bits_name(to_bits), {result, source});
  } else if (to_bits < from_bits) {
    d.emit("truncate." + bits_name(from_bits) + "." + bits_name(to_bits), {result, source});
  } else {
    d.emit("extend." + type_name(is_signed, from_bits) + "." + bits_name(to_bits),
           {result, source});
  }
}

void float_to_integer(function_decoder& d, scalar_type to, scalar_type from, std::uint16_t flags) {
  operand_slot source = d.value(d.operand(1), bits_of(from), from);
  if (is_half(from)) {
    operand_slot widened = d.temporary(32);
    d.emit("cvt.f32." + std::string(ptx::spelling(from)), {widened, source});
    source = widened;
    from = scalar_type::f32;
  }
  operand_slot result = d.result(d.operand(0), bits_of(to), ptx::is_signed(to));
  bool is_frequent = to == scalar_type::s32 && from == scalar_type::f32 &&
                     d.spelling().has(qualifier::rzi) && !(flags & float_flag::ftz);
  std::string name = is_frequent ? "cvt.rzi.s32.f32"
                                 : "cvt." + std::string(ptx::spelling(to)) + "." +
                                       std::string(ptx::spelling(from));
  d.emit(name, {result, source}).flags = flags;
}

void integer_to_float(function_decoder& d, scalar_type to, scalar_type from, std::uint16_t flags) {
  int bits = std::max(bits_of(from), 32);
  bool is_signed = ptx::is_signed(from);
  operand_slot source = d.value(d.operand(1), bits_of(from), from);
  source = extended(d, source, is_signed, bits_of(from), bits);
  d.emit("cvt." + std::string(ptx::spelling(to)) + "." + type_name(is_signed, bits),
         {d.result(d.operand(0), bits_of(to)), source})
      .flags = flags;
}

void float_to_float(function_decoder& d, scalar_type to, scalar_type from, std::uint16_t flags) {
  operand_slot source = d.value(d.operand(1), bits_of(from), from);
  operand_slot result = d.result(d.operand(0), bits_of(to));
  if (is_half(from)) {  // f32 is exact, so only the final conversion rounds
    bool is_last = to == scalar_type::f32 && !is_integral(d.spelling());
    operand_slot widened = is_last ? result : d.temporary(32);
    d.emit("cvt.f32." + std::string(ptx::spelling(from)), {widened, source}).flags =
        is_last ? flags : 0;
    if (is_last) return;
    source = widened;
    from = scalar_type::f32;
    if (is_half(to) && is_integral(d.spelling())) {
      operand_slot rounded = d.temporary(32);
      instruction& integral = d.emit("cvt.f32.f32", {rounded, source});
      integral.flags = flags & float_flag::rounding;
      integral.immediate = 1;
      source = rounded;
      flags &= static_cast<std::uint16_t>(~float_flag::rounding);
    }
  }
  bool is_plain = flags == 0 && from == scalar_type::f32 && is_half(to);
  std::string name = std::string(is_plain ? "cvt.nearest." : "cvt.") +
                     std::string(ptx::spelling(to)) + "." + std::string(ptx::spelling(from));
  instruction& instr = d.emit(name, {result, source});
  instr.flags = flags;
  instr.immediate = is_integral(d.spelling());
}

// ---- special registers

struct uniform_entry {
  ptx::special_register name;
  uniform_value first;  // x component, if the register has components
  int bits;
};
using special = ptx::special_register;
constexpr uniform_entry uniform_registers[] = {
    {special::aggr_smem_size, uniform_value::reserved_smem_end, 32},
    {special::clock, uniform_value::clock, 32},
    {special::clock64, uniform_value::clock64, 64},
    {special::clock_hi, uniform_value::clock_hi, 32},
    {special::cluster_ctaid, uniform_value::cluster_ctaid_x, 32},
    {special::cluster_ctarank, uniform_value::cluster_ctarank, 32},
    {special::cluster_nctaid, uniform_value::cluster_nctaid_x, 32},
    {special::cluster_nctarank, uniform_value::cluster_nctarank, 32},
    {special::clusterid, uniform_value::clusterid_x, 32},
    {special::ctaid, uniform_value::ctaid_x, 32},
    {special::current_graph_exec, uniform_value::zero, 64},
    {special::dynamic_smem_size, uniform_value::dynamic_smem_size, 32},
    {special::envreg, uniform_value::zero, 32},
    {special::globaltimer, uniform_value::globaltimer, 64},
    {special::globaltimer_hi, uniform_value::globaltimer_hi, 32},
    {special::globaltimer_lo, uniform_value::globaltimer, 32},
    {special::gridid, uniform_value::gridid, 64},
    {special::nclusterid, uniform_value::nclusterid_x, 32},
    {special::nctaid, uniform_value::nctaid_x, 32},
    {special::nsmid, uniform_value::nsmid, 32},
    {special::ntid, uniform_value::ntid_x, 32},
    {special::nwarpid, uniform_value::nwarpid, 32},
    {special::pm, uniform_value::zero, 32},
    {special::pm_64, uniform_value::zero, 64},
    {special::reserved_smem_offset_begin, uniform_value::reserved_smem_begin, 32},
    {special::reserved_smem_offset_cap, uniform_value::reserved_smem_size, 32},
    {special::reserved_smem_offset_end, uniform_value::reserved_smem_end, 32},
    {special::smid, uniform_value::smid, 32},
    {special::total_smem_size, uniform_value::total_smem_size, 32},
    {special::warpid, uniform_value::warpid, 32},
};

constexpr special with_axes[] = {
    special::clusterid,  special::cluster_ctaid, special::cluster_nctaid, special::ctaid,
    special::nclusterid, special::nctaid,        special::ntid,           special::tid};

int axis_of(const ptx::operand& o) {
  if (o.component == ptx::component::none) return 0;
  int axis = static_cast<int>(o.component) - static_cast<int>(ptx::component::x);
  bool has_axes =
      std::find(std::begin(with_axes), std::end(with_axes), o.special) != std::end(with_axes);
  if (!has_axes || axis < 0 || axis > 2) throw unsupported{"component of a special register"};
  return axis;
}

void emit_uniform(function_decoder& d, uniform_value value, operand_slot result, int bits) {
  d.emit("special.uniform." + bits_name(bits), {result}).immediate = static_cast<int>(value);
}

}  // namespace

void emit_special_register(function_decoder& d, const ptx::operand& o, operand_slot result,
                           int bits) {
  if (bits == 16) {  // the lower half, which texts before PTX 2.0 read
    const operand_slot whole = d.temporary(32);
    emit_special_register(d, o, whole, 32);
    d.emit("truncate.b32.b16", {result, whole});
    return;
  }
  if (bits != 32 && bits != 64) throw unsupported{"special register of this width"};
  std::string name{ptx::spelling(o.special)};
  bool is_per_lane =
      o.special == special::tid || o.special == special::laneid || name.starts_with("lanemask_");
  if (is_per_lane) {
    operand_slot narrow = bits == 32 ? result : d.temporary(32);
    d.emit("special." + name, {narrow}).immediate = axis_of(o);
    if (bits == 64) d.emit("extend.u32.b64", {result, narrow});
    return;
  }
  if (o.special == special::is_explicit_cluster) throw unsupported{"%is_explicit_cluster as value"};
  if (o.special == special::reserved_smem_offset && o.value <= 1) {
    d.use_reserved_shared();
    auto value = o.value ? uniform_value::reserved_smem_second : uniform_value::reserved_smem_begin;
    return emit_uniform(d, value, result, bits);
  }
  // %envreg1 and %envreg2 are the halves of the address of the grid barrier's counter.
  if (o.special == special::envreg && (o.value == 1 || o.value == 2)) {
    auto value = o.value == 1 ? uniform_value::envreg1 : uniform_value::envreg2;
    return emit_uniform(d, value, result, bits);
  }
  for (const uniform_entry& entry : uniform_registers) {
    if (entry.name != o.special) continue;
    auto value = static_cast<uniform_value>(static_cast<int>(entry.first) + axis_of(o));
    if (value >= uniform_value::reserved_smem_begin && value <= uniform_value::reserved_smem_size) {
      d.use_reserved_shared();
    }
    return emit_uniform(d, value, result, bits);
  }
  throw unsupported{"special register " + std::string(o.name)};
}

void decode_mov(function_decoder& d) {
  scalar_type type = d.spelling().type(0);
  const ptx::operand &to = d.operand(0), &from = d.operand(1);
  if (const auto number = mark_number(to.name)) {
    d.emit(&count_mark, flow::next).target = *number;
    return;
  }
  if (type == scalar_type::pred) {
    if (from.kind == operand_kind::special_register) {
      const operand_slot word = d.temporary(32);
      if (from.special != special::is_explicit_cluster) {
        throw unsupported{"special register as predicate"};
      }
      emit_uniform(d, uniform_value::is_explicit_cluster, word, 32);
      emit_comparison(d, qualifier::ne, scalar_type::b32, false, d.predicate(to), word,
                      d.constant(0, 32));
      return;
    }
    operand_slot source = d.predicate_value(from);
    d.emit("mov.pred", {d.predicate(to), source});
    return;
  }
  int bits = bits_of(type);
  if (bits == 128) return move_wide(d, to, from);
  if (from.kind == operand_kind::vector) return pack(d, from, bits);
  if (to.kind == operand_kind::vector) return unpack(d, to, bits);
  if (from.kind == operand_kind::special_register) {
    return emit_special_register(d, from, d.result(to, bits), bits);
  }
  operand_slot source = d.value(from, bits, type);
  d.emit("mov." + bits_name(bits), {d.result(to, bits), source});
}

void decode_cvt(function_decoder& d) {
  if (decode_small_float(d)) return;
  const ptx::mnemonic& m = d.spelling();
  scalar_type to = m.type(0), from = m.type(1);
  std::uint16_t flags = conversion_flags(m);
  if (m.has(qualifier::rna)) throw unsupported{"this form of cvt"};
  if (to == scalar_type::f16x2 || to == scalar_type::bf16x2) {
    operand_slot a = d.value(d.operand(1), 32, scalar_type::f32);
    operand_slot b = d.value(d.operand(2), 32, scalar_type::f32);
    if (from != scalar_type::f32) throw unsupported{"this form of cvt"};
    d.emit("cvt." + std::string(ptx::spelling(to)) + ".f32", {d.result(d.operand(0), 32), a, b})
        .flags = flags;
    return;
  }
  bool to_float = ptx::is_floating(to), from_float = ptx::is_floating(from);
  if (to_float && from_float) return float_to_float(d, to, from, flags);
  if (to_float) return integer_to_float(d, to, from, flags);
  if (from_float) return float_to_integer(d, to, from, flags);
  integer_to_integer(d, to, from);
}

namespace {

std::uint64_t window_of(const function_decoder& d, state_space space) {
  const memory::address_space& memory = *d.owner().space;
  switch (ptx::without_sub_space(space)) {
    case state_space::shared:
      return memory.shared_window();
    case state_space::local:
    case state_space::param:
      return memory.local_window();
    default:
      return 0;
  }
}

}  // namespace

// Global and constant addresses equal generic addresses. Parameters with a used address are local.
void decode_cvta(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  int bits = bits_of(m.type(0));
  std::uint64_t window = window_of(d, m.space(0));
  operand_slot source = d.value(d.operand(1), bits);
  operand_slot result = d.result(d.operand(0), bits);
  if (window == 0) {
    d.emit("mov." + bits_name(bits), {result, source});
  } else {
    const char* name = m.has(qualifier::to) ? "sub." : "add.";
    d.emit(name + bits_name(bits), {result, source, d.constant(window, bits)});
  }
}

void decode_isspacep(function_decoder& d) {
  state_space space = ptx::without_sub_space(d.spelling().space(0));
  operand_slot address = d.value(d.operand(1), 64), offset = d.temporary(64);
  operand_slot result = d.predicate(d.operand(0));
  const memory::address_space& memory = *d.owner().space;
  auto is_within = [&](operand_slot to, std::uint64_t first, std::uint64_t bytes) {
    d.emit("sub.b64", {offset, address, d.constant(first, 64)});
    d.emit("setp.lt.u64", {to, offset, d.constant(bytes, 64)});
  };
  if (space == state_space::shared) {
    const bool is_cluster = d.spelling().space(0) == state_space::shared_cluster;
    return is_within(result, memory.shared_window(),
                     is_cluster ? memory::window_bytes : block_window_bytes);
  }
  if (space == state_space::local)
    return is_within(result, memory.local_window(), memory::window_bytes);
  if (space != state_space::global) throw unsupported{"isspacep of this space"};
  is_within(result, memory.shared_window(), 2 * memory::window_bytes);
  d.emit("mov.pred", {result, result}).immediate = 1;
}

// Emits a comparison with the address of each reference of the module of one type.
void decode_istypep(function_decoder& d) {
  const operand_slot address = d.value(d.operand(1), 64), is_match = d.temporary_predicate();
  const operand_slot result = d.predicate(d.operand(0));
  d.emit("set.pred", {result}).immediate = 0;
  const auto& variables = d.owner().source->variables;
  ptx::operand reference;
  reference.kind = operand_kind::symbol;
  reference.symbol = ptx::symbol_kind::module_variable;
  for (const ptx::variable& each : variables) {
    if (each.type != d.spelling().type(0)) continue;
    reference.index = static_cast<std::uint32_t>(&each - variables.data());
    d.emit("setp.eq.b64", {is_match, address, d.value(reference, 64)});
    d.emit("or.pred", {result, result, is_match});
  }
}

}  // namespace halfwarp::emulator::exec
