// SPDX-License-Identifier: Apache-2.0
// Decodes arithmetic instructions. Most handler names equal the mnemonic.
#include <algorithm>
#include <array>
#include <iterator>

#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/scalar/scalar.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::opcode;
using ptx::qualifier;
using ptx::scalar_type;

// Widths of result and sources: T is the width of the type, W twice that width, 4 is 32 bits.
struct operand_shape {
  opcode name;
  std::string_view widths, wide_widths;
};
constexpr operand_shape shapes[] = {
    {opcode::abs, "TT", {}},       {opcode::add, "TTT", {}},      {opcode::bfe, "TT44", {}},
    {opcode::bfi, "TTT44", {}},    {opcode::bfind, "4T", {}},     {opcode::bmsk, "TTT", {}},
    {opcode::brev, "TT", {}},      {opcode::clz, "4T", {}},       {opcode::cnot, "TT", {}},
    {opcode::copysign, "TTT", {}}, {opcode::div, "TTT", {}},      {opcode::fma, "TTTT", {}},
    {opcode::fns, "TTTT", {}},     {opcode::mad, "TTTT", "WTTW"}, {opcode::mad24, "TTTT", {}},
    {opcode::max, "TTT", {}},      {opcode::min, "TTT", {}},      {opcode::mul, "TTT", "WTT"},
    {opcode::mul24, "TTT", {}},    {opcode::neg, "TT", {}},       {opcode::popc, "4T", {}},
    {opcode::rcp, "TT", {}},       {opcode::rem, "TTT", {}},      {opcode::sad, "TTTT", {}},
    {opcode::shf, "TTTT", {}},     {opcode::shl, "TT4", {}},      {opcode::shr, "TT4", {}},
    {opcode::sqrt, "TT", {}},      {opcode::sub, "TTT", {}},      {opcode::szext, "TTT", {}},
};
constexpr bool is_before(const operand_shape& a, const operand_shape& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(shapes), std::end(shapes), is_before));

std::string_view shape_of(opcode name, bool is_wide) {
  auto match = std::lower_bound(std::begin(shapes), std::end(shapes), operand_shape{name, {}, {}},
                                is_before);
  bool is_known = match != std::end(shapes) && match->name == name;
  std::string_view widths = !is_known ? std::string_view{}
                            : is_wide ? match->wide_widths
                                      : match->widths;
  if (widths.empty()) throw unsupported{"this form of the instruction"};
  return widths;
}

int width(char letter, int bits) { return letter == '4' ? 32 : letter == 'W' ? 2 * bits : bits; }

// Sets the operands according to the width letters.
void set_operands(function_decoder& d, std::string_view handler_name, std::string_view widths,
                  scalar_type type) {
  int bits = bits_of(type);
  std::array<operand_slot, 5> slots{};
  for (std::size_t i = 1; i < widths.size(); ++i) {
    slots[i] = d.value(d.operand(i), width(widths[i], bits), type);
  }
  slots[0] = d.result(d.operand(0), width(widths[0], bits));
  d.emit(handler_name).operand = slots;
}

// Returns "mad.hi.sat.s32", or "mul.lo.b32" if the sign does not affect the result.
std::string integer_handler(const ptx::mnemonic& m, scalar_type type) {
  std::string name{ptx::spelling(m.opcode)};
  for (qualifier q : m.qualifiers()) name.append(".").append(ptx::spelling(q));
  std::string exact = name + "." + std::string(ptx::spelling(type));
  return find_handler(exact) ? exact : name + "." + bits_name(bits_of(type));
}

// Returns "add.f32", "add.ftz.f32", or "add.general.f32" for all other flags.
std::string float_handler(opcode name, scalar_type type, std::uint16_t flags) {
  std::string handler{ptx::spelling(name)};
  if (flags & ~(float_flag::ftz | float_flag::approx)) {
    handler += ".general";
  } else if (flags & float_flag::ftz) {
    handler += ".ftz";
  }
  return handler + "." + std::string(ptx::spelling(type));
}

bool is_half(scalar_type type) {
  return type == scalar_type::f16 || type == scalar_type::f16x2 || type == scalar_type::bf16 ||
         type == scalar_type::bf16x2;
}

void decode_float(function_decoder& d, opcode name, scalar_type type) {
  std::uint16_t flags = float_flags(d.spelling());
  std::string_view widths = shape_of(d.spelling().opcode, false);
  std::string handler_name;
  bool is_upper_half = type == scalar_type::f64 && (flags & float_flag::approx);
  if (is_half(type)) {
    handler_name = std::string(ptx::spelling(name)) + "." + std::string(ptx::spelling(type));
  } else if (is_upper_half) {
    handler_name = std::string(ptx::spelling(name)) + ".upper.f64";
  } else {
    handler_name = float_handler(name, type, flags);
  }
  set_operands(d, handler_name, widths, type);
  d.last().flags = flags;
}

// Computes both floats of f32x2 operands one after the other.
void decode_pair(function_decoder& d, opcode name) {
  const std::uint16_t flags = float_flags(d.spelling());
  const operand_slot result[] = {d.temporary(32), d.temporary(32)};
  std::array<operand_slot, 5> lower{result[0]}, upper{result[1]};
  for (std::size_t n = 1; n < d.operands().size(); ++n) {
    lower.at(n) = d.temporary(32);
    upper.at(n) = d.temporary(32);
    d.emit("unpack.b64.b32", {d.value(d.operand(n), 64), lower[n], upper[n]});
  }
  for (const auto& operands : {lower, upper}) {
    instruction& instr = d.emit(float_handler(name, scalar_type::f32, flags), {});
    instr.operand = operands;
    instr.flags = flags;
  }
  d.emit("pack.b32.b64", {d.result(d.operand(0), 64), result[0], result[1]});
}

// {add,sub}.f32.HALF d, a, c and fma.f32.HALF d, a, b, c: c and d are f32.
void decode_mixed(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  const std::uint16_t flags = float_flags(m);
  const std::size_t last = d.operands().size() - 1;
  std::array<operand_slot, 5> slots{};
  for (std::size_t n = 1; n < last; ++n) {
    slots.at(n) = d.temporary(32);
    d.emit("cvt.f32." + std::string(ptx::spelling(m.type(1))),
           {slots[n], d.value(d.operand(n), 16, m.type(1))});
  }
  slots.at(last) = d.value(d.operand(last), 32, scalar_type::f32);
  slots[0] = d.result(d.operand(0), 32);
  instruction& instr = d.emit(float_handler(m.opcode, scalar_type::f32, flags), {});
  instr.operand = slots;
  instr.flags = flags;
}

// fma.oob d, a, b, c. The result may have the register of a factor.
void decode_fma_oob(function_decoder& d, scalar_type type) {
  const int bits = bits_of(type);
  std::array<operand_slot, 5> slots{};
  for (std::size_t n = 1; n < 3; ++n) {
    slots[n] = d.temporary(bits);
    d.emit("mov." + bits_name(bits), {slots[n], d.value(d.operand(n), bits, type)});
  }
  decode_float(d, opcode::fma, type);
  slots[0] = d.last().operand[0];
  instruction& instr = d.emit(&run_clear_outside, flow::next);
  instr.operand = slots;
  instr.immediate = bits;
}

}  // namespace

std::uint16_t float_flags(const ptx::mnemonic& m) {
  constexpr std::pair<qualifier, std::uint16_t> meaning[] = {
      {qualifier::rz, 1},
      {qualifier::rm, 2},
      {qualifier::rp, 3},
      {qualifier::ftz, float_flag::ftz},
      {qualifier::sat, float_flag::sat},
      {qualifier::relu, float_flag::relu},
      {qualifier::NaN, float_flag::nan},
      {qualifier::xorsign, float_flag::xorsign_abs},
      {qualifier::satfinite, float_flag::satfinite},
      {qualifier::approx, float_flag::approx},
      {qualifier::full, float_flag::approx},
  };
  std::uint16_t flags = 0;
  for (auto [word, flag] : meaning) {
    if (m.has(word)) flags |= flag;
  }
  return flags;
}

void decode_arithmetic(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  scalar_type type = m.type(0);
  if (m.has(qualifier::cc)) return decode_carry(d);
  if (type == scalar_type::f32x2) return decode_pair(d, m.opcode);
  if (m.has(qualifier::oob)) return decode_fma_oob(d, type);
  if (m.type_count == 2) return decode_mixed(d);
  if (ptx::is_floating(type)) {
    // mad of floats is fma on every device that the emulator supports.
    return decode_float(d, m.opcode == opcode::mad ? opcode::fma : m.opcode, type);
  }
  set_operands(d, integer_handler(m, type), shape_of(m.opcode, m.has(qualifier::wide)), type);
}

// The carry flag is one bit per lane. The immediate states whether it is read and written.
void decode_carry(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  bool reads_carry =
      m.opcode == opcode::addc || m.opcode == opcode::subc || m.opcode == opcode::madc;
  bool writes_carry = m.has(qualifier::cc);
  scalar_type type = m.type(0);
  bool is_multiplication = m.opcode == opcode::mad || m.opcode == opcode::madc;
  bool is_subtraction = m.opcode == opcode::sub || m.opcode == opcode::subc;
  std::string name = "carry.";
  if (is_multiplication && m.has(qualifier::hi)) {
    name += "mad.hi." + std::string(ptx::spelling(type));
  } else {
    name += is_multiplication ? "mad.lo." : is_subtraction ? "sub." : "add.";
    name += bits_name(bits_of(type));
  }
  set_operands(d, name, is_multiplication ? "TTTT" : "TTT", type);
  d.last().immediate =
      (reads_carry ? carry_use::reads : 0) | (writes_carry ? carry_use::writes : 0);
}

void decode_logic(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  std::string name{ptx::spelling(m.opcode)};
  bool is_not = m.opcode == opcode::not_;
  if (m.type(0) != scalar_type::pred) {
    set_operands(d, name + "." + bits_name(bits_of(m.type(0))), is_not ? "TT" : "TTT", m.type(0));
    return;
  }
  operand_slot a = d.predicate_value(d.operand(1));
  if (is_not) {
    d.emit("mov.pred", {d.predicate(d.operand(0)), a}).immediate = 1;
  } else {
    operand_slot b = d.predicate_value(d.operand(2));
    d.emit(name + ".pred", {d.predicate(d.operand(0)), a, b});
  }
}

// lop3.b32 d, a, b, c, table. With .and or .or: d|p, ..., q, with p = (d != 0) op q.
void decode_lop3(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  bool has_predicate = m.has(qualifier::and_) || m.has(qualifier::or_);
  const ptx::operand& target = d.operand(0);
  bool is_pair = target.kind == ptx::operand_kind::pair;
  const ptx::operand& to = is_pair ? d.elements(target)[0] : target;
  operand_slot a = d.value(d.operand(1), 32), b = d.value(d.operand(2), 32);
  operand_slot c = d.value(d.operand(3), 32);
  operand_slot computed = has_predicate ? d.temporary(32) : d.result(to, 32);
  d.emit("lop3.b32", {computed, a, b, c}).immediate = d.operand(4).value;
  if (!has_predicate) return;
  operand_slot is_set = d.temporary_predicate(), q = d.predicate_value(d.operand(5));
  d.emit("setp.eq.b32", {is_set, computed, d.constant(0, 32)}).immediate = 1;
  if (is_pair) {
    d.emit(m.has(qualifier::and_) ? "and.pred" : "or.pred",
           {d.predicate(d.elements(target)[1]), is_set, q});
  }
  d.emit("mov.b32", {d.result(to, 32), computed});
}

// dp4a.TYPE.TYPE d, a, b, c; dp2a.{lo,hi}.TYPE.TYPE d, a, b, c
void decode_dot_product(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  const bool is_halves = m.opcode == opcode::dp2a;
  for (scalar_type type : m.types()) {
    if (type != scalar_type::s32 && type != scalar_type::u32) throw unsupported{"this type"};
  }
  if (is_halves && m.has(qualifier::lo) == m.has(qualifier::hi)) {
    throw unsupported{"dp2a without one of .lo and .hi"};
  }
  std::string name{ptx::spelling(m.opcode)};
  for (scalar_type type : m.types()) name.append(".").append(ptx::spelling(type));
  set_operands(d, name, "TTTT", scalar_type::b32);
  d.last().immediate = m.has(qualifier::hi) ? 16 : 0;
}

void decode_prmt(function_decoder& d) {
  std::string name = "prmt.b32";
  for (qualifier q : d.spelling().qualifiers()) name.append(".").append(ptx::spelling(q));
  set_operands(d, name, "TTTT", scalar_type::b32);
}

void decode_approximate(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  scalar_type type = m.type(0);
  std::uint16_t flags = float_flags(m);
  std::string name{ptx::spelling(m.opcode)};
  if (type == scalar_type::f64 && (flags & float_flag::ftz)) name += ".upper";
  set_operands(d, name + "." + std::string(ptx::spelling(type)), "TT", type);
  d.last().flags = flags;
}

void decode_min_max(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  scalar_type type = m.type(0);
  if (!ptx::is_floating(type)) return decode_arithmetic(d);
  std::uint16_t flags = float_flags(m);
  bool has_three = d.operands().size() == 4;
  std::string name{ptx::spelling(m.opcode)};
  if (has_three) name += "3";
  if (type == scalar_type::f32 && (flags || has_three)) name += ".general";
  set_operands(d, name + "." + std::string(ptx::spelling(type)), has_three ? "TTTT" : "TTT", type);
  d.last().flags = flags;
}

void decode_testp(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  std::string name = "testp";
  for (qualifier q : m.qualifiers()) name.append(".").append(ptx::spelling(q));
  operand_slot a = d.value(d.operand(1), bits_of(m.type(0)), m.type(0));
  d.emit(name + "." + std::string(ptx::spelling(m.type(0))), {d.predicate(d.operand(0)), a});
}

}  // namespace halfwarp::emulator::exec
