// SPDX-License-Identifier: Apache-2.0
#include "emulator/ptx/verification/register_rules.hpp"

#include <algorithm>
#include <iterator>

#include "emulator/ptx/type_set.hpp"

namespace halfwarp::emulator::ptx {
namespace {

using q = qualifier;

// The operands of an instruction that are registers, as sets of positions.
struct register_rule {
  opcode name;
  std::uint8_t of_first_type, of_second_type = 0, of_words = 0;
  bool is_relaxed = false;
};
constexpr register_rule rules[] = {
    {opcode::abs, 3},
    {opcode::add, 7},
    {opcode::addc, 7},
    {opcode::and_, 7},
    {opcode::atom, 5},
    {opcode::bfe, 3, 0, 12},
    {opcode::bfi, 7, 0, 24},
    {opcode::bfind, 2, 0, 1},
    {opcode::brev, 3},
    {opcode::brx, 0, 0, 1},
    {opcode::clz, 2, 0, 1},
    {opcode::cnot, 3},
    {opcode::copysign, 7},
    {opcode::cos, 3},
    {opcode::cvt, 1, 6, 0, true},
    {opcode::cvta, 3},
    {opcode::div, 7},
    {opcode::dp2a, 15},
    {opcode::dp4a, 15},
    {opcode::ex2, 3},
    {opcode::fma, 15},
    {opcode::getctarank, 2, 0, 1},
    {opcode::ld, 1, 0, 0, true},
    {opcode::ldu, 1, 0, 0, true},
    {opcode::lg2, 3},
    {opcode::lop3, 15},
    {opcode::mad, 15},
    {opcode::mad24, 15},
    {opcode::madc, 15},
    {opcode::mapa, 3, 0, 4},
    {opcode::max, 15},
    {opcode::min, 15},
    {opcode::mov, 3},
    {opcode::mul, 7},
    {opcode::mul24, 7},
    {opcode::neg, 3},
    {opcode::not_, 3},
    {opcode::or_, 7},
    {opcode::popc, 2, 0, 1},
    {opcode::prmt, 15},
    {opcode::rcp, 3},
    {opcode::red, 2},
    {opcode::rem, 7},
    {opcode::rsqrt, 3},
    {opcode::sad, 15},
    {opcode::selp, 7},
    {opcode::set, 1, 6},
    {opcode::setp, 6},
    {opcode::shf, 7, 0, 8},
    {opcode::shfl, 3},
    {opcode::shl, 3, 0, 4},
    {opcode::shr, 3, 0, 4},
    {opcode::sin, 3},
    {opcode::slct, 7, 8},
    {opcode::sqrt, 3},
    {opcode::st, 2, 0, 0, true},
    {opcode::sub, 7},
    {opcode::subc, 7},
    {opcode::tanh, 3},
    {opcode::testp, 2},
    {opcode::wmma, 0, 0, 4},
    {opcode::xor_, 7},
};
constexpr bool is_before(const register_rule& a, const register_rule& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(rules), std::end(rules), is_before));

scalar_type widened(scalar_type type) noexcept {
  return info(type).bits == 16 ? scalar_type::u32 : scalar_type::u64;
}

// Returns whether a conversion has a type whose registers have exactly its width.
bool has_exact_registers(const mnemonic& word) {
  using enum scalar_type;
  constexpr type_set wider = integers | type_set{u8, s8, f16, f32, f64, f16x2};
  return word.opcode == opcode::cvt && !word.has(q::pack) &&
         !std::ranges::all_of(word.types(), [&](scalar_type each) { return wider.has(each); });
}

bool is_constant(const operand& o) noexcept {
  return o.kind == operand_kind::integer || o.kind == operand_kind::float_bits ||
         o.kind == operand_kind::double_bits;
}

// Returns the type of a last operand whose register has no other type: random bits, or a scale.
scalar_type exact_type(const mnemonic& word) noexcept {
  if (word.has(q::rs)) return scalar_type::b32;
  return word.has(q::scaled_n2_ue8m0) ? scalar_type::b16 : scalar_type::none;
}

// Returns the type of an operand, or none.
scalar_type type_at(const register_rule& rule, const mnemonic& word, std::size_t position) {
  if (word.has(q::pack)) return position == 3 ? scalar_type::b32 : scalar_type::u32;
  if (rule.of_words >> position & 1) return scalar_type::u32;
  if (rule.of_second_type >> position & 1) return word.type(1);
  const bool is_compared = word.opcode == opcode::atom && word.has(q::cas) && position == 3;
  if (!(rule.of_first_type >> position & 1) && !is_compared) return scalar_type::none;
  return word.has(q::wide) && position % 3 == 0 ? widened(word.type()) : word.type();
}

}  // namespace

bool fits(scalar_type operand, scalar_type of_register, bool is_relaxed) noexcept {
  const type_info &type = info(operand), &actual = info(of_register);
  if (is_relaxed ? actual.bits < type.bits : actual.bits != type.bits) return false;
  if (operand == of_register || actual.kind == type_class::bits) return true;
  if (type.kind == type_class::bits) return actual.kind != type_class::predicate;
  const bool is_integer =
      actual.kind == type_class::unsigned_ || actual.kind == type_class::signed_;
  return (is_integer || of_register == scalar_type::f16x2) &&
         (type.kind == type_class::unsigned_ || type.kind == type_class::signed_);
}

bool takes_constant(scalar_type operand, operand_kind constant) noexcept {
  using enum scalar_type;
  constexpr type_set whole = integers | type_set{u8, s8, b8, b16, b32, b64, b128, pred};
  const bool is_float = operand == f32 || operand == f64;
  switch (constant) {
    case operand_kind::integer:
      return whole.has(operand);
    case operand_kind::float_bits:
      return is_float || operand == b32;
    case operand_kind::double_bits:
      return is_float || operand == b64;
    default:
      return false;
  }
}

const operand* misfit(const function& f, const instruction& i, const mnemonic& word) noexcept {
  const auto* const rule = std::ranges::lower_bound(rules, word.opcode, {}, &register_rule::name);
  if (rule == std::end(rules) || rule->name != word.opcode || word.has(q::mma)) return nullptr;
  if (word.type_count > 1 && !rule->of_second_type && word.opcode != opcode::dp2a &&
      word.opcode != opcode::dp4a)
    return nullptr;  // a sum of two types
  const auto operands = f.operands_of(i);
  const bool is_relaxed = rule->is_relaxed && !has_exact_registers(word);
  for (std::size_t n = 0; n < operands.size(); ++n) {
    const scalar_type exact = n + 1 == operands.size() ? exact_type(word) : scalar_type::none;
    if (exact != scalar_type::none) {
      const operand& o = operands[n];
      const bool is_register = o.kind == operand_kind::register_;
      const bool is_wrong = is_register ? f.registers[o.index].type != exact : is_constant(o);
      return is_wrong ? &o : nullptr;
    }
    const scalar_type type = type_at(*rule, word, n);
    const bool is_moved = operands[n].kind == operand_kind::vector && word.opcode == opcode::mov;
    if (type == scalar_type::none || is_moved) continue;
    const std::span<const operand> elements = operands[n].kind == operand_kind::vector
                                                  ? f.elements_of(operands[n])
                                                  : operands.subspan(n, 1);
    for (const operand& o : elements) {
      if (is_constant(o) && !takes_constant(type, o.kind)) return &o;
      if (o.kind != operand_kind::register_ || o.component != component::none) continue;
      const register_info& r = f.registers[o.index];
      if (r.vector_width == 1 && !fits(type, r.type, is_relaxed)) return &o;
    }
  }
  return nullptr;
}

const char* special_problem(const mnemonic& word, const operand& o) noexcept {
  using enum special_register;
  const auto is_one_of = [&](std::initializer_list<special_register> list) {
    return std::ranges::count(list, o.special) != 0;
  };
  if (word.opcode != opcode::mov && word.opcode != opcode::cvt)
    return "reads a special register, which only mov and cvt can";
  const bool is_index = is_one_of({tid, ntid, ctaid, nctaid});
  const bool has_axes =
      is_index || is_one_of({clusterid, nclusterid, cluster_ctaid, cluster_nctaid});
  const bool is_axis = o.component >= component::x && o.component <= component::w;
  if (word.vector_width == 1 && has_axes != is_axis) return "has a wrong part of a register";
  const std::int64_t last = o.special == envreg ? 31 : o.special == reserved_smem_offset ? 1 : 7;
  if (o.value > last) return "has no special register of this number";
  const unsigned natural = is_one_of({clock64, globaltimer, pm_64, current_graph_exec}) ? 64
                           : o.special == is_explicit_cluster                           ? 0
                                                                                        : 32;
  if (word.opcode == opcode::cvt) {
    const bool is_whole = !is_floating(word.type()) && !is_floating(word.type(1));
    return is_whole && !word.has(q::pack) && info(word.type(1)).bits <= natural
               ? nullptr
               : "has other types than the special register";
  }
  const unsigned bits = info(word.type()).bits;
  const bool is_any = o.special == gridid && bits >= 16;
  const bool has_width = is_any || bits == natural || (is_index && bits == 16);
  return has_width && !is_floating(word.type()) ? nullptr : "has another type than the register";
}

}  // namespace halfwarp::emulator::ptx
