// SPDX-License-Identifier: Apache-2.0
// The rules of common instructions, as a table: types, words of which one is needed, operands.
#include "emulator/ptx/verification/form_rules.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "emulator/ptx/instruction_table.hpp"
#include "emulator/ptx/type_set.hpp"
#include "emulator/ptx/verification/access_rules.hpp"
#include "emulator/ptx/verification/conversion_rules.hpp"
#include "emulator/ptx/verification/needed_words.hpp"
#include "emulator/ptx/verification/operand_rules.hpp"
#include "emulator/ptx/word_sets.hpp"

namespace halfwarp::emulator::ptx {
namespace {

using q = qualifier;
using enum scalar_type;

constexpr type_set lanes{u16x2, s16x2, u8x4, s8x4};
constexpr type_set floats = type_set{f32, f64, f32x2} | halves;
constexpr type_set signed_numbers = type_set{s16, s32, s64, f32, f64, s8x4} | halves;
constexpr type_set words32{b32, b64}, words_16{b16, b32, b64}, fields{u32, u64, s32, s64};
constexpr type_set values = integers | words_16 | type_set{f32, f64};
constexpr type_set video{u32, s32};
constexpr type_set any_type{};

constexpr words no_words{};

// Each bit selects a check of the operands or types.
namespace check {
constexpr std::uint8_t result = 1;  // a register, and then registers and constants
constexpr std::uint8_t types = 2;   // not only the first type
}  // namespace check

struct form_rule {
  opcode name;
  type_set types;             // of the first type; empty: not checked
  words required = no_words;  // one of them, for the types below
  type_set required_for = any_type;
  std::uint8_t operands = check::result;
};

constexpr form_rule rules[] = {
    {opcode::abs, signed_numbers},
    {opcode::activemask, {b32}},
    {opcode::add, integers | lanes | floats},
    {opcode::addc, fields},
    {opcode::alloca, {u32, u64}},
    {opcode::and_, words_16 | type_set{pred}},
    {opcode::bfe, fields},
    {opcode::bfi, words32},
    {opcode::bfind, fields},
    {opcode::bmsk, {b32}, words{q::clamp, q::wrap}, {b32}, 0},
    {opcode::brev, words32},
    {opcode::brkpt, any_type, no_words, any_type, 0},
    {opcode::clz, words32},
    {opcode::cnot, words_16},
    {opcode::copysign, {f32, f64}},
    {opcode::cos, {f32}, words{q::approx}, {f32}},
    {opcode::createpolicy, {b64}, no_words, any_type, 0},
    {opcode::cvta, {u64}, no_words, any_type, 0},
    {opcode::div, integers | type_set{f32, f64}, roundings | words{q::approx, q::full}, {f32, f64}},
    {opcode::dp2a, video, no_words, any_type, check::types},
    {opcode::dp4a, video, no_words, any_type, check::types},
    {opcode::ex2, type_set{f32} | halves, words{q::approx}, type_set{f32} | halves},
    {opcode::exit, any_type, no_words, any_type, 0},
    {opcode::fma, floats, roundings, floats},
    {opcode::fns, {b32}, no_words, any_type, 0},
    {opcode::getctarank, {u32, u64}, no_words, any_type, 0},
    {opcode::istypep, {texref, samplerref, surfref}, no_words, any_type, 0},
    {opcode::lg2, {f32}, words{q::approx}, {f32}},
    {opcode::lop3, {b32}},
    {opcode::mad, integers | type_set{f32, f64}, words{q::lo, q::hi, q::wide}, integers},
    {opcode::mad24, {u32, s32}, words{q::lo, q::hi}, {u32, s32}},
    {opcode::madc, fields, words{q::lo, q::hi}, fields},
    {opcode::mapa, {u32, u64}},
    {opcode::match, words32, no_words, any_type, 0},
    {opcode::max, integers | lanes | halves | type_set{f32, f64}},
    {opcode::min, integers | lanes | halves | type_set{f32, f64}},
    {opcode::mov, values | type_set{pred, b128}, no_words, any_type, 0},
    {opcode::movmatrix, {b16}, no_words, any_type, 0},
    {opcode::mul, integers | floats, words{q::lo, q::hi, q::wide}, integers},
    {opcode::mul24, {u32, s32}},
    {opcode::nanosleep, {u32}, no_words, any_type, 0},
    {opcode::neg, signed_numbers},
    {opcode::not_, words_16 | type_set{pred}},
    {opcode::or_, words_16 | type_set{pred}},
    {opcode::popc, words32},
    {opcode::prmt, {b32}},
    {opcode::rcp, {f32, f64}, roundings | words{q::approx}, {f32, f64}},
    {opcode::redux, {u32, s32, b32, f32}, no_words, any_type, 0},
    {opcode::rem, integers},
    {opcode::ret, any_type, no_words, any_type, 0},
    {opcode::rsqrt, {f32, f64}, words{q::approx}, {f32, f64}},
    {opcode::sad, integers},
    {opcode::selp, values},
    {opcode::setp, values | halves, comparisons, values | halves, 0},
    {opcode::shf, {b32}},
    {opcode::shfl, {b32}, no_words, any_type, 0},
    {opcode::shl, words_16},
    {opcode::shr, words_16 | integers},
    {opcode::sin, {f32}, words{q::approx}, {f32}},
    {opcode::slct, values},
    {opcode::sqrt, {f32, f64}, roundings | words{q::approx}, {f32, f64}},
    {opcode::stacksave, {u32, u64}, no_words, any_type, 0},
    {opcode::sub, integers | type_set{u8x4, s8x4} | floats},
    {opcode::subc, fields},
    {opcode::szext, {u32, s32}},
    {opcode::tanh, type_set{f32} | halves, words{q::approx}, type_set{f32} | halves},
    {opcode::testp, {f32, f64}},
    {opcode::trap, any_type, no_words, any_type, 0},
    {opcode::vabsdiff, video, no_words, any_type, check::types},
    {opcode::vabsdiff2, video, no_words, any_type, check::types},
    {opcode::vabsdiff4, video, no_words, any_type, check::types},
    {opcode::vadd, video, no_words, any_type, check::types},
    {opcode::vadd2, video, no_words, any_type, check::types},
    {opcode::vadd4, video, no_words, any_type, check::types},
    {opcode::vavrg2, video, no_words, any_type, check::types},
    {opcode::vavrg4, video, no_words, any_type, check::types},
    {opcode::vmad, video, no_words, any_type, check::types},
    {opcode::vmax, video, no_words, any_type, check::types},
    {opcode::vmax2, video, no_words, any_type, check::types},
    {opcode::vmax4, video, no_words, any_type, check::types},
    {opcode::vmin, video, no_words, any_type, check::types},
    {opcode::vmin2, video, no_words, any_type, check::types},
    {opcode::vmin4, video, no_words, any_type, check::types},
    {opcode::vote, {b32, pred}, no_words, any_type, 0},
    {opcode::vset, video, no_words, any_type, check::types},
    {opcode::vset2, video, no_words, any_type, check::types},
    {opcode::vset4, video, no_words, any_type, check::types},
    {opcode::vshl, video, no_words, any_type, check::types},
    {opcode::vshr, video, no_words, any_type, check::types},
    {opcode::vsub, video, no_words, any_type, check::types},
    {opcode::vsub2, video, no_words, any_type, check::types},
    {opcode::vsub4, video, no_words, any_type, check::types},
    {opcode::xor_, words_16 | type_set{pred}},
};
constexpr bool is_before(const form_rule& a, const form_rule& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(rules), std::end(rules), is_before));

const form_rule* rule_of(opcode name) noexcept {
  const auto* const rule = std::ranges::lower_bound(rules, name, {}, &form_rule::name);
  return rule != std::end(rules) && rule->name == name ? rule : nullptr;
}

// Returns the first part of the mnemonic that PTX does not define.
std::string unknown_part(const mnemonic& word) {
  std::string_view text = word.text;
  for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
    text.remove_prefix(dot + 1);
    const std::string_view part = text.substr(0, text.find('.'));
    const bool is_vector = part == "v2" || part == "v4" || part == "v8";
    if (!is_vector && find_qualifier(part) == qualifier::unknown &&
        find_type(part) == scalar_type::none && find_space(part) == state_space::generic) {
      return std::string{part};
    }
  }
  return {};
}

std::string type_problem(const mnemonic& word, const form_rule& rule) {
  if (rule.types.is_empty()) return {};
  const std::size_t count = rule.operands & check::types ? word.type_count : 1;
  for (std::size_t n = 0; n < count; ++n) {
    if (!rule.types.has(word.type(n))) return no_type(word.type(n));
  }
  return {};
}

std::string comparison_problem(const mnemonic& word) {
  constexpr words equality{q::eq, q::ne}, unsigned_words{q::lo, q::ls, q::hi, q::hs},
      float_words{q::equ, q::neu, q::ltu, q::leu, q::gtu, q::geu, q::num, q::nan};
  const scalar_type type = word.type();
  for (qualifier each : word.qualifiers()) {
    if (!comparisons.has(each)) continue;
    const bool is_bits = info(type).kind == type_class::bits;
    const bool is_wrong = (is_bits && !equality.has(each)) ||
                          (unsigned_words.has(each) && info(type).kind != type_class::unsigned_) ||
                          (float_words.has(each) && !is_floating(type));
    if (is_wrong) {
      return "has no comparison " + dotted(spelling(each)) + " of " + dotted(spelling(type));
    }
  }
  return {};
}

// The types of an instruction that have a modifier.
struct modifier_rule {
  words modifiers;
  opcode name;  // unknown: each instruction of arithmetic
  type_set types;
};
constexpr words directed{q::rz, q::rm, q::rp};
constexpr modifier_rule modifier_rules[] = {
    {{q::ftz}, opcode::unknown, {f16, f16x2, f32, f32x2}},
    {{q::sat}, opcode::mul, {f16, f16x2, f32}},
    {{q::sat}, opcode::mad, {f32, s32}},
    {{q::sat}, opcode::mad24, {s32}},
    {{q::sat}, opcode::unknown, {f16, f16x2, f32, s32, u32}},
    {{q::relu}, opcode::fma, halves},
    {{q::relu}, opcode::unknown, {s16x2, s32}},
    {{q::NaN, q::xorsign}, opcode::unknown, type_set{f32} | halves},
    {{q::cc}, opcode::unknown, fields},
    {{q::rn}, opcode::unknown, floats},
    {directed, opcode::fma, {f32, f32x2, f64, bf16, bf16x2}},
    {directed, opcode::unknown, {f32, f32x2, f64}},
    {{q::approx, q::full}, opcode::unknown, {f32}},
};

std::string modifier_problem(const mnemonic& word) {
  constexpr opcode arithmetic[] = {
      opcode::abs, opcode::add, opcode::div, opcode::fma,  opcode::mad,  opcode::mad24, opcode::max,
      opcode::min, opcode::mul, opcode::neg, opcode::setp, opcode::sqrt, opcode::sub};
  if (!std::ranges::count(arithmetic, word.opcode)) return {};
  for (qualifier each : word.qualifiers()) {
    const auto* const rule = std::ranges::find_if(modifier_rules, [&](const modifier_rule& r) {
      return r.modifiers.has(each) && (r.name == opcode::unknown || r.name == word.opcode);
    });
    if (rule != std::end(modifier_rules) && !rule->types.has(word.type())) {
      return "has no " + dotted(spelling(each)) + " for " + dotted(spelling(word.type()));
    }
  }
  return {};
}

std::string arithmetic_problem(const module& m, const mnemonic& word) {
  const scalar_type type = word.type();
  if (word.has(q::oob) && (!halves.has(type) || word.has(q::ftz))) {
    return "has .oob for numbers of 16 bits alone, without .ftz";
  }
  if (word.has(q::relu) && word.has(q::sat)) return "has .relu and .sat";
  if (word.type_count == 2 &&
      (word.opcode == opcode::add || word.opcode == opcode::sub || word.opcode == opcode::fma)) {
    const bool is_mixed = type == f32 && (word.type(1) == f16 || word.type(1) == bf16);
    const bool has_others = has_one_of(word, words{q::ftz, q::relu, q::oob, q::cc});
    return is_mixed && !has_others ? "" : "has 2 types";
  }
  if (word.type_count != 1) return {};
  if (integers.has(type) && has_one_of(word, roundings)) return "does not round integers";
  if (auto problem = modifier_problem(word); !problem.empty()) return problem;
  if (is_floating(type) && (word.has(q::lo) || word.has(q::hi) || word.has(q::wide))) {
    return "has no half of a product of " + dotted(spelling(type));
  }
  const bool is_low_limit = word.has(q::sat) && word.has(q::hi) == is_floating(type) &&
                            (word.opcode == opcode::mad || word.opcode == opcode::mad24);
  if (is_low_limit) return "has .sat of integers with .hi alone";
  if (word.has(q::cc) && word.has(q::wide)) return "has no .cc for a product of full width";
  const bool is_wide64 = word.has(q::wide) && info(type).bits == 64;
  if (is_wide64) return "has no .wide for " + dotted(spelling(type));
  const bool is_sum = word.opcode == opcode::add || word.opcode == opcode::sub;
  const bool has_u32 = 10 * m.version_major + m.version_minor >= 92;
  if (is_sum && word.has(q::sat) && type == u32 && !has_u32) {
    return "has no .sat for " + dotted(spelling(type));
  }
  return {};
}

bool is_register(const operand& o) {
  return o.kind == operand_kind::register_ || o.kind == operand_kind::sink ||
         o.kind == operand_kind::vector || o.kind == operand_kind::pair;
}

bool is_address(const operand& o) {
  return o.kind == operand_kind::address || o.kind == operand_kind::address_group;
}

scalar_type type_of(const function& f, const operand& o) {
  const bool is_whole = o.kind == operand_kind::register_ && o.component == component::none &&
                        f.registers[o.index].vector_width == 1;
  return is_whole ? f.registers[o.index].type : none;
}

std::string sign_problem(const function& f, const instruction& i, const mnemonic& word) {
  if (word.opcode == opcode::vmad) return {};
  const auto operands = f.operands_of(i);
  if (!operands.empty() && operands[0].is_negated) return "cannot negate its result";
  for (const operand& o : operands) {
    if (o.is_negated && o.kind == operand_kind::register_ && type_of(f, o) != pred) {
      return "cannot negate an operand that is no predicate";
    }
    if (o.kind == operand_kind::special_register && o.special == special_register::unknown) {
      return "has an unknown special register '" + std::string{o.name} + "'";
    }
  }
  return {};
}

// The first version of PTX, times ten, and the first target that has a special register.
struct register_since {
  special_register name;
  since first;
};
constexpr register_since later_registers[] = {
    {special_register::aggr_smem_size, {81, 90}},
    {special_register::cluster_ctaid, {78, 90}},
    {special_register::cluster_ctarank, {78, 90}},
    {special_register::cluster_nctaid, {78, 90}},
    {special_register::cluster_nctarank, {78, 90}},
    {special_register::clusterid, {78, 90}},
    {special_register::current_graph_exec, {80, 50}},
    {special_register::dynamic_smem_size, {41, 20}},
    {special_register::globaltimer, {31, 30}},
    {special_register::is_explicit_cluster, {78, 90}},
    {special_register::nclusterid, {78, 90}},
    {special_register::reserved_smem_offset, {76, 80}},
    {special_register::reserved_smem_offset_begin, {76, 80}},
    {special_register::reserved_smem_offset_cap, {76, 80}},
    {special_register::reserved_smem_offset_end, {76, 80}},
    {special_register::total_smem_size, {41, 20}},
};

std::string register_problem(const module& m, const function& f, const instruction& i) {
  for (const operand& o : f.operands_of(i)) {
    if (o.kind != operand_kind::special_register) continue;
    const auto* const later = std::ranges::find(later_registers, o.special, &register_since::name);
    if (later == std::end(later_registers)) continue;
    const std::string missing = missing_of(m, later->first);
    if (!missing.empty()) return "reads '" + std::string{o.name} + "', which needs " + missing;
  }
  return {};
}

const char* move_problem(const function& f, const instruction& i, const mnemonic& word) {
  const auto operands = f.operands_of(i);
  if (!is_register(operands[0])) return "needs a register for its result";
  if (is_address(operands[1]) || operands[1].kind == operand_kind::sink)
    return "needs a value, a variable or a function";
  if (operands[0].kind == operand_kind::vector && operands[1].kind == operand_kind::vector)
    return "has two vectors";
  for (const operand& o : operands) {
    if (o.kind == operand_kind::symbol && (is_floating(word.type()) || word.type() == pred))
      return "has an address in place of another value";
    if (o.kind != operand_kind::vector) continue;
    if (info(word.type()).kind != type_class::bits) return "has a vector of another type";
    if (o.count != 2 && o.count != 4) return "has a vector of another length";
    unsigned bits = 0;
    for (const operand& each : f.elements_of(o)) {
      const scalar_type type = type_of(f, each);
      if (type == none) return "";
      bits += info(type).bits;
      if (info(type).bits * o.count != info(word.type()).bits)
        return "has a vector of another width";
    }
    if (bits != info(word.type()).bits) return "has a vector of another width";
  }
  return "";
}

// Checks the registers of loads and stores, and the last operand of products.
std::string tensor_problem(const module& m, const function& f, std::span<const operand> operands,
                           const mnemonic& word) {
  const bool has_vector = std::ranges::any_of(
      operands, [](const operand& o) { return o.kind == operand_kind::vector; });
  if (word.has(q::ld) || word.has(q::st)) return has_vector ? "" : "needs a vector of registers";
  if (word.has(q::mma) && word.has(q::sp) && !is_address(operands[3])) {
    return "needs the address of its metadata";
  }
  if (word.has(q::ws)) {
    if (operands.size() > 6u + word.has(q::sp)) return "has too many operands";
    const scalar_type last = type_of(f, operands.back());
    const bool is_narrow = last != none && last != pred && info(last).bits != 64;
    return is_narrow || has_vector ? "needs a mask of zero columns in 64 bits" : "";
  }
  const bool has_scale = word.has(q::mma) && operands.back().kind == operand_kind::integer;
  if (!has_scale) {
    const bool is_followed = word.has(q::mma) && type_of(f, operands.end()[-2]) == pred;
    return is_followed ? "needs an integer as its scale of D" : "";
  }
  if (!word.has(q::kind_f16) && !word.has(q::kind_tf32)) return "has no scale of D";
  const bool is_known = m.target_architecture() < 110 && m.target_architecture() != 101;
  return is_known ? "" : "has no scale of D on " + std::string{m.target};
}

const char* bulk_store_problem(std::span<const operand> operands) {
  const bool is_zero = operands[2].kind == operand_kind::integer && operands[2].value == 0;
  return is_zero ? "" : "stores nothing but 0";
}

// Checks that an operation has registers and constants, and not addresses, vectors or sinks.
const char* plain_problem(std::span<const operand> operands, const mnemonic& word) {
  // The rule of their kinds has checked the other operands.
  const bool has_pair = word.opcode == opcode::setp || word.opcode == opcode::lop3;
  for (const operand& o : operands) {
    const bool is_result = &o == operands.data();
    switch (o.kind) {
      case operand_kind::register_:
        continue;
      case operand_kind::special_register:
      case operand_kind::integer:
      case operand_kind::float_bits:
      case operand_kind::double_bits:
        if (!is_result) continue;
        return "needs a register for its result";
      case operand_kind::sink:
        if (has_pair) continue;
        return "has the sink in place of a value";
      case operand_kind::pair:
        if (has_pair) continue;
        return "has no second result";
      case operand_kind::vector:
        if (word.has(q::rs)) continue;
        return "has a vector in place of a register";
      case operand_kind::symbol:
        if (word.opcode == opcode::mapa) continue;
        return "has a symbol in place of a register";
      default:
        return "has an address in place of a register";
    }
  }
  return "";
}

// Returns whether a video instruction has 2 or 4 lanes, as vadd4 does.
bool has_lanes(const mnemonic& word) {
  const char last = word.text[word.text.find('.') - 1];
  return last == '2' || last == '4';
}

// The part of the accesses that a policy is for is above 0, and at most 1.
const char* fraction_problem(std::span<const operand> operands) {
  if (operands.size() != 2) return "";
  const operand& o = operands[1];
  const bool is_double = o.kind == operand_kind::double_bits;
  if (!is_double && o.kind != operand_kind::float_bits) return "";
  const double part = is_double ? std::bit_cast<double>(o.value)
                                : std::bit_cast<float>(static_cast<std::uint32_t>(o.value));
  return part > 0 && part <= 1 ? "" : "needs a part above 0, at most 1";
}

bool is_plain(const form_rule* rule, opcode name) {
  constexpr opcode further_plain[] = {opcode::cvt, opcode::set, opcode::setp};
  return (rule && rule->operands & check::result) || std::ranges::count(further_plain, name) != 0;
}

std::string copied_bytes_problem(std::span<const operand> operands, const mnemonic& word) {
  const bool has_size = word.has(q::ca) || word.has(q::cg);
  if (!has_size || operands[2].kind != operand_kind::integer) return {};
  const std::int64_t bytes = operands[2].value;
  const bool is_size = bytes == 16 || (word.has(q::ca) && (bytes == 4 || bytes == 8));
  return is_size ? "" : "cannot copy " + std::to_string(bytes) + " bytes";
}

std::string special_form_problem(const module& m, const function& f, const instruction& i,
                                 const mnemonic& word) {
  const auto operands = f.operands_of(i);
  switch (word.opcode) {
    case opcode::ld:
    case opcode::ldu:
    case opcode::st:
      return word.has(q::bulk) ? bulk_store_problem(operands) : "";
    case opcode::cp:
      return copied_bytes_problem(operands, word);
    case opcode::createpolicy:
      return word.has(q::fractional) ? fraction_problem(operands) : "";
    case opcode::mov:
      return move_problem(f, i, word);
    case opcode::tcgen05:
      return operands.empty() ? "" : tensor_problem(m, f, operands, word);
    default:
      return {};
  }
}

// A form that some targets of its family lack.
struct target_limit {
  opcode name;
  q form;
  std::string_view targets;
};
constexpr target_limit target_limits[] = {
    {opcode::cvt, q::rs, "sm_100a sm_103a"},
    {opcode::tcgen05, q::kind_i8, "sm_100a sm_101a sm_110a"},
    {opcode::tcgen05, q::red, "sm_101a sm_101f sm_103a sm_103f sm_110a sm_110f"},
    {opcode::tcgen05, q::scale_vec_1X, "sm_100a sm_101a sm_103a sm_110a"},
    {opcode::tcgen05, q::scale_vec_2X, "sm_100a sm_101a sm_103a sm_110a"},
    {opcode::tcgen05, q::scale_vec_4X, "sm_100a sm_101a sm_103a sm_110a"},
    {opcode::tcgen05, q::shift, "sm_100a sm_101a sm_103a sm_110a"},
};

bool lacks_form(const module& m, const mnemonic& word) {
  if (word.opcode == opcode::tcgen05 && m.target_architecture() >= 120) return true;
  const bool is_narrow_sparse =
      word.opcode == opcode::tcgen05 && word.has(q::sp) && has_one_of(word, narrow_kinds);
  const bool has_fixed =
      word.opcode == opcode::cvt && (word.type(0) == s2f6x2 || word.type(1) == s2f6x2);
  if ((is_narrow_sparse || has_fixed) && m.target.ends_with('f')) return true;
  return std::ranges::any_of(target_limits, [&](const target_limit& each) {
    return each.name == word.opcode && word.has(each.form) &&
           each.targets.find(m.target) == std::string_view::npos;
  });
}

// Types of conversions that exist on one device or family alone.
constexpr type_set small_types{e2m1x2, e2m3x2, e3m2x2, ue8m0x2, s2f6x2}, bytes{e4m3x2, e5m2x2};

// Returns whether a form exists on one device or family alone.
bool is_of_one_family(const mnemonic& word) {
  struct specific_form {
    opcode name;
    q form;  // unknown: every form
  };
  constexpr specific_form forms[] = {
      {opcode::cvt, q::rs},
      {opcode::cvt, q::scaled_n2_ue8m0},
      {opcode::ldmatrix, q::m8n16},
      {opcode::ldmatrix, q::m16n16},
      {opcode::setmaxnreg, q::unknown},
      {opcode::stmatrix, q::m16n8},
      {opcode::tcgen05, q::unknown},
      {opcode::tensormap, q::replace},
      {opcode::wgmma, q::unknown},
  };
  if (word.opcode == opcode::cvt && word.type_count == 2) {
    const scalar_type to = word.type(0), from = word.type(1);
    if (small_types.has(to) || small_types.has(from)) return true;
    if ((bytes.has(to) && from == bf16x2) || (to == bf16x2 && bytes.has(from))) return true;
  }
  return std::ranges::any_of(forms, [&](const specific_form& each) {
    return each.name == word.opcode && (each.form == q::unknown || word.has(each.form));
  });
}

}  // namespace

std::string dotted(std::string_view word) { return "'." + std::string{word} + "'"; }

std::string no_type(scalar_type type) { return "has no type " + dotted(spelling(type)); }

std::string missing_of(const module& m, since first) {
  const std::uint32_t version = 10 * m.version_major + m.version_minor;
  const std::uint32_t target = m.target_architecture();
  if (target && target < first.target) {
    return ".target sm_" + std::to_string(first.target) + " or later, the module has " +
           std::string{m.target};
  }
  if (version >= first.version) return {};
  return ".version " + std::to_string(first.version / 10) + "." +
         std::to_string(first.version % 10) + " or later, the module has " +
         std::to_string(m.version_major) + "." + std::to_string(m.version_minor);
}

since first_on(const module& m, const mnemonic& word) {
  constexpr std::uint32_t early_target = 89;
  const since first = first_of(word);
  const bool has_bytes = word.opcode == opcode::cvt && word.type_count > 1 &&
                         (bytes.has(word.type(0)) || bytes.has(word.type(1)));
  const bool is_early = has_bytes && m.target_architecture() == early_target;
  return is_early && first.version < 81 ? since{81, first.target} : first;
}

std::string row_problem(const instruction_row& row, const mnemonic& word) {
  for (qualifier each : word.qualifiers()) {
    if (each != row.form && !row.allowed.has(each)) {
      return "has no modifier " + dotted(spelling(each));
    }
  }
  if (!row.types.has(word.type_count)) {
    return "has " + std::to_string(word.type_count) + " types";
  }
  if (!row.has_space && word.space_count) return "has no state space";
  if (!row.has_space && word.vector_width > 1) return "has no vectors";
  return {};
}

std::string count_problem(const instruction_row& row, std::size_t operands) {
  if (row.operands.has(operands)) return {};
  return "has " + std::to_string(operands) + " operands";
}

std::string word_problem(const module& m, const mnemonic& word) {
  if (word.opcode == opcode::unknown) return "is no instruction of PTX";
  if (word.has_unknown_word) {
    const std::string part = unknown_part(word);
    return part.empty() ? "" : "has an unknown modifier " + dotted(part);
  }
  const bool is_specific = m.target.ends_with('a') || m.target.ends_with('f');
  const bool needs_specific = is_of_one_family(word);
  if (!is_specific && needs_specific) {
    return "needs a target of one device or family, such as sm_90a";
  }
  if (lacks_form(m, word)) return "does not exist on " + std::string{m.target};
  const instruction_row* const row = find_row(word);
  if (!row) return "is no form of the instruction";
  if (auto problem = row_problem(*row, word); !problem.empty()) return problem;
  const std::uint32_t version = 10 * m.version_major + m.version_minor;
  if (auto problem = needed_problem(word, version); !problem.empty()) return problem;
  if (auto problem = access_problem(m, word); !problem.empty()) return problem;
  if (word.opcode == opcode::cvt) return conversion_problem(word);
  const form_rule* const rule = rule_of(word.opcode);
  if (!rule) return {};
  if (auto problem = type_problem(word, *rule); !problem.empty()) return problem;
  if (rule->required_for.has(word.type()) && !has_one_of(word, rule->required)) {
    return "needs one of the modifiers of its rounding, width, comparison or approximation";
  }
  if (word.opcode == opcode::setp) {
    if (auto problem = comparison_problem(word); !problem.empty()) return problem;
  }
  return arithmetic_problem(m, word);
}

std::string operand_problem(const module& m, const function& f, const instruction& i,
                            const mnemonic& word, const instruction_row& row) {
  if (auto problem = sign_problem(f, i, word); !problem.empty()) return problem;
  if (auto problem = register_problem(m, f, i); !problem.empty()) return problem;
  const auto operands = f.operands_of(i);
  if (auto problem = count_problem(row, operands.size()); !problem.empty()) return problem;
  if (auto problem = special_form_problem(m, f, i, word); !problem.empty()) return problem;
  const std::optional<std::size_t> count = count_of_operands(word);
  if (count && *count != operands.size()) {
    return "has " + std::to_string(operands.size()) + " operands instead of " +
           std::to_string(*count);
  }
  constexpr opcode discarding[] = {opcode::atom, opcode::lop3, opcode::mbarrier, opcode::setp};
  const bool may_discard = std::ranges::count(discarding, word.opcode) != 0;
  if (!may_discard && !operands.empty() && operands[0].kind == operand_kind::sink) {
    return "cannot discard its result";
  }
  const form_rule* const rule = rule_of(word.opcode);
  const bool is_lane_wise = rule && rule->operands & check::types;
  const std::string_view kinds = !is_lane_wise ? "" : has_lanes(word) ? "UUUU" : "Uuu Uuuu";
  if (auto problem = kind_problem(f, operands, word, kinds); !problem.empty()) return problem;
  if (is_plain(rule, word.opcode)) {
    if (const char* const problem = plain_problem(operands, word); *problem) return problem;
  }
  if (auto problem = constant_problem(operands, word); !problem.empty()) return problem;
  const std::string missing = missing_of(m, first_of_operands(f, operands, word));
  if (!missing.empty()) return "with these operands needs " + missing;
  return {};
}

}  // namespace halfwarp::emulator::ptx
