// SPDX-License-Identifier: Apache-2.0
// Decodes comparisons and selections: setp, set, selp, slct.
#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/exec/marks.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::operand_kind;
using ptx::qualifier;
using ptx::scalar_type;

// Implements a comparison by one of five base comparisons, with swapped operands or inverted
// result.
struct comparison_form {
  qualifier name;
  const char* base;
  bool swaps, inverts;
};
constexpr comparison_form float_forms[] = {
    {qualifier::eq, "eq", false, false},   {qualifier::neu, "eq", false, true},
    {qualifier::ne, "ne", false, false},   {qualifier::equ, "ne", false, true},
    {qualifier::lt, "lt", false, false},   {qualifier::geu, "lt", false, true},
    {qualifier::le, "le", false, false},   {qualifier::gtu, "le", false, true},
    {qualifier::gt, "lt", true, false},    {qualifier::leu, "lt", true, true},
    {qualifier::ge, "le", true, false},    {qualifier::ltu, "le", true, true},
    {qualifier::num, "num", false, false}, {qualifier::nan, "num", false, true},
};
constexpr comparison_form integer_forms[] = {
    {qualifier::eq, "eq", false, false}, {qualifier::ne, "eq", false, true},
    {qualifier::lt, "lt", false, false}, {qualifier::ge, "lt", false, true},
    {qualifier::le, "le", false, false}, {qualifier::gt, "le", false, true},
    {qualifier::lo, "lt", false, false}, {qualifier::hs, "lt", false, true},
    {qualifier::ls, "le", false, false}, {qualifier::hi, "le", false, true},
};

const comparison_form& form_of(qualifier name, bool is_float) {
  std::span<const comparison_form> forms = integer_forms;
  if (is_float) forms = float_forms;
  for (const comparison_form& form : forms) {
    if (form.name == name) return form;
  }
  throw unsupported{"comparison"};
}

// The qualifiers for the comparison and the boolean operation.
struct comparison_words {
  qualifier comparison = qualifier::unknown, operation = qualifier::unknown;
};
comparison_words words_of(const ptx::mnemonic& m) {
  comparison_words words;
  for (qualifier q : m.qualifiers()) {
    bool is_operation = q == qualifier::and_ || q == qualifier::or_ || q == qualifier::xor_;
    if (is_operation)
      words.operation = q;
    else if (q != qualifier::ftz)
      words.comparison = q;
  }
  return words;
}

// Sets `to` = result op q, or not(result) op q. Copies the result if there is no operation.
void combine(function_decoder& d, const comparison_words& words, operand_slot result,
             const ptx::operand* other, operand_slot to, bool inverts) {
  if (words.operation == qualifier::unknown) {
    d.emit("mov.pred", {to, result}).immediate = inverts;
    return;
  }
  operand_slot q = d.predicate_value(*other);
  std::string name = std::string(ptx::spelling(words.operation)) + ".pred";
  d.emit(name, {to, result, q}).immediate = inverts ? 1 : 0;
}

bool is_packed(scalar_type type) {
  return type == scalar_type::f16x2 || type == scalar_type::bf16x2;
}

}  // namespace

void emit_comparison(function_decoder& d, qualifier comparison, scalar_type type, bool ftz,
                     operand_slot predicate, operand_slot a, operand_slot b, std::uint32_t part) {
  const comparison_form& form = form_of(comparison, ptx::is_floating(type));
  std::string name = std::string("setp.") + form.base;
  bool is_unsigned_name = comparison == qualifier::lo || comparison == qualifier::ls ||
                          comparison == qualifier::hi || comparison == qualifier::hs;
  if (ptx::is_floating(type)) {
    if (ftz && type == scalar_type::f32) name += ".ftz";
    name += "." + std::string(ptx::spelling(type));
  } else if (name == "setp.eq") {
    name += "." + bits_name(bits_of(type));
  } else {
    bool is_signed = ptx::is_signed(type) && !is_unsigned_name;
    name += (is_signed ? ".s" : ".u") + std::to_string(bits_of(type));
  }
  if (form.swaps) std::swap(a, b);
  instruction& instr = d.emit(name, {predicate, a, b});
  instr.immediate = form.inverts;
  instr.flags = ftz ? float_flag::ftz : 0;
  instr.target = part;
}

void decode_setp(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  comparison_words words = words_of(m);
  scalar_type type = m.type(0);
  bool ftz = m.has(qualifier::ftz);
  operand_slot a = d.value(d.operand(1), bits_of(type), type);
  operand_slot b = d.value(d.operand(2), bits_of(type), type);
  const ptx::operand& target = d.operand(0);
  if (const auto number = mark_number(target.name)) {
    d.emit(mark_test, {a}).target = *number;
    return;
  }
  bool is_pair = target.kind == operand_kind::pair;
  const ptx::operand* other = words.operation == qualifier::unknown ? nullptr : &d.operand(3);
  if (!is_pair && !other) {
    emit_comparison(d, words.comparison, type, ftz, d.predicate(target), a, b);
    return;
  }
  operand_slot compared = d.temporary_predicate();
  emit_comparison(d, words.comparison, type, ftz, compared, a, b);
  if (!is_pair) return combine(d, words, compared, other, d.predicate(target), false);
  // For packed halves the second predicate is the result of the upper half, else the inverse. A
  // destination may also be the source q, so both results are computed before they are stored.
  operand_slot first = d.temporary_predicate(), second = d.temporary_predicate();
  combine(d, words, compared, other, first, false);
  if (is_packed(type)) emit_comparison(d, words.comparison, type, ftz, compared, a, b, 1);
  combine(d, words, compared, other, second, !is_packed(type));
  d.emit("mov.pred", {d.predicate(d.elements(target)[0]), first});
  d.emit("mov.pred", {d.predicate(d.elements(target)[1]), second});
}

// set.CMP.dtype.stype d, a, b: d is all ones or 1.0 if true, else 0.
void decode_set(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  comparison_words words = words_of(m);
  scalar_type to = m.type(0), from = m.type_count > 1 ? m.type(1) : m.type(0);
  bool ftz = m.has(qualifier::ftz);
  operand_slot a = d.value(d.operand(1), bits_of(from), from);
  operand_slot b = d.value(d.operand(2), bits_of(from), from);
  const ptx::operand* other = words.operation == qualifier::unknown ? nullptr : &d.operand(3);
  std::uint64_t one = ~std::uint64_t{0};
  if (to == scalar_type::f32) one = 0x3f80'0000;
  if (to == scalar_type::f16 || to == scalar_type::f16x2) one = 0x3c00'3c00;
  if (to == scalar_type::bf16 || to == scalar_type::bf16x2) one = 0x3f80'3f80;
  int bits = bits_of(to);
  operand_slot yes = d.constant(one, bits), no = d.constant(0, bits);
  operand_slot result = d.result(d.operand(0), bits);
  operand_slot compared = d.temporary_predicate();
  if (is_packed(from)) {
    operand_slot packed = d.temporary(32);
    for (std::uint32_t part : {0u, 1u}) {
      emit_comparison(d, words.comparison, from, ftz, compared, a, b, part);
      if (other) combine(d, words, compared, other, compared, false);
      d.emit("selp.half", {packed, yes, no, compared}).target = part;
    }
    d.emit("mov.b32", {result, packed});
    return;
  }
  emit_comparison(d, words.comparison, from, ftz, compared, a, b);
  if (other) combine(d, words, compared, other, compared, false);
  d.emit("selp." + bits_name(bits), {result, yes, no, compared});
}

void decode_selp(function_decoder& d) {
  scalar_type type = d.spelling().type(0);
  int bits = bits_of(type);
  operand_slot a = d.value(d.operand(1), bits, type), b = d.value(d.operand(2), bits, type);
  operand_slot p = d.predicate_value(d.operand(3));
  d.emit("selp." + bits_name(bits), {d.result(d.operand(0), bits), a, b, p});
}

// slct.dtype.ctype d, a, b, c: d = c >= 0 ? a : b. NaN selects b.
void decode_slct(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  int bits = bits_of(m.type(0));
  operand_slot a = d.value(d.operand(1), bits, m.type(0)),
               b = d.value(d.operand(2), bits, m.type(0));
  operand_slot c = d.value(d.operand(3), 32, m.type(1));
  operand_slot selects_a = d.temporary_predicate();
  emit_comparison(d, qualifier::ge, m.type(1), m.has(qualifier::ftz), selects_a, c,
                  d.constant(0, 32));
  d.emit("selp." + bits_name(bits), {d.result(d.operand(0), bits), a, b, selects_a});
}

}  // namespace halfwarp::emulator::exec
