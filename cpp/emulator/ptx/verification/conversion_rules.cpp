// SPDX-License-Identifier: Apache-2.0
// The conversions that the manual lists, as a table of types and modifiers.
#include "emulator/ptx/verification/conversion_rules.hpp"

#include <algorithm>
#include <iterator>

#include "emulator/ptx/type_set.hpp"
#include "emulator/ptx/verification/needed_words.hpp"
#include "emulator/ptx/word_sets.hpp"

namespace halfwarp::emulator::ptx {
namespace {

using q = qualifier;
using enum scalar_type;

constexpr type_set bytes{u8, s8}, whole = integers | bytes;
constexpr type_set small_pairs{e4m3x2, e5m2x2, e2m1x2, e2m3x2, e3m2x2};
constexpr words to_float{q::rn, q::rz, q::rm, q::rp}, to_integer{q::rni, q::rzi, q::rmi, q::rpi};
constexpr words pair_roundings{q::rn, q::rz}, limits{q::relu, q::satfinite};
constexpr words scaled = limits | words{q::scaled_n2_ue8m0};

// The first rule of both types applies. A conversion has at most the rounding and the words.
struct conversion_rule {
  type_set to, from;
  words rounding;
  bool is_rounded;  // needs one of the roundings
  words allowed;
};
constexpr conversion_rule rules[] = {
    {whole, whole, {}, false, {q::sat}},
    {{f16, f32, f64}, whole, to_float, true, {q::ftz, q::sat}},
    {{bf16}, integers, to_float, true, {}},
    {whole, {f16, f32, f64}, to_integer, true, {q::ftz, q::sat}},
    {integers, {bf16}, to_integer, true, {}},
    {{f16}, {f16}, to_integer, false, {q::sat}},
    {{f32}, {f32}, to_integer, false, {q::ftz, q::sat}},
    {{f64}, {f64}, to_integer, false, {q::sat}},
    {{bf16}, {bf16}, to_integer, false, {}},
    {{f16}, {f32}, to_float, true, limits | words{q::ftz, q::sat}},
    {{bf16}, {f32}, to_float, true, limits | words{q::ftz}},
    {{f16, bf16, f32}, {f64}, to_float, true, {q::ftz, q::sat}},
    {{f32, f64}, {f16, f32}, {}, false, {q::ftz, q::sat}},
    {{f16, f32, f64}, {bf16}, to_float, false, {q::ftz}},
    {{bf16}, {f16}, to_float, false, {}},
    {{f16x2, bf16x2}, {f32}, pair_roundings, true, limits},
    {{tf32}, {f32}, {q::rn, q::rz, q::rna}, true, limits},
    {small_pairs, {f32, f16x2, bf16x2}, {q::rn}, true, limits},
    {{s2f6x2}, {f32, bf16x2}, {q::rn}, true, scaled},
    {{f16x2}, small_pairs, {q::rn}, true, {q::relu}},
    {{bf16x2}, small_pairs | type_set{s2f6x2}, {q::rn}, true, scaled},
    {{bf16x2}, {ue8m0x2}, {q::rn}, true, {}},
    {{ue8m0x2}, {f32, bf16x2}, {q::rz, q::rp}, true, {q::satfinite}},
};

// Returns whether an integer of one type can exceed the limits of another.
bool is_narrowed(scalar_type to, scalar_type from) {
  const type_info &target = info(to), &source = info(from);
  const bool is_signed = target.kind == type_class::signed_;
  if (target.kind == source.kind) return target.bits < source.bits;
  return !is_signed || target.bits <= source.bits;
}

}  // namespace

std::string conversion_problem(const mnemonic& word) {
  if (word.has(q::pack)) return {};
  const scalar_type to = word.type(0), from = word.type(1);
  if (word.has(q::rs)) {
    const bool has_four = info(to).bits >= 16 && to != f16x2 && to != bf16x2;
    return has_four && !word.has(q::satfinite) ? "needs .satfinite" : "";
  }
  const auto* const rule = std::ranges::find_if(
      rules, [&](const conversion_rule& each) { return each.to.has(to) && each.from.has(from); });
  const std::string types =
      "from '." + std::string{spelling(from)} + "' to '." + std::string{spelling(to)} + "'";
  if (rule == std::end(rules)) return "has no conversion " + types;
  const bool has_ftz = to == f32 || from == f32,
             has_sat = !whole.has(to) || !whole.has(from) || is_narrowed(to, from);
  for (qualifier each : word.qualifiers()) {
    const bool is_word =
        rule->allowed.has(each) && (each != q::ftz || has_ftz) && (each != q::sat || has_sat);
    if (!is_word && !rule->rounding.has(each)) {
      return "has no modifier '." + std::string{spelling(each)} + "' " + types;
    }
  }
  const bool is_directed = to != ue8m0x2 && (word.has(q::rm) || word.has(q::rp));
  if ((is_directed && has_one_of(word, limits)) || (word.has(q::rna) && word.has(q::relu))) {
    return "has no limits with this rounding " + types;
  }
  if (has_one_of(word, limits) && (word.has(q::sat) || word.has(q::ftz))) {
    return "has .relu or .satfinite with .sat or .ftz " + types;
  }
  if (rule->is_rounded && !has_one_of(word, rule->rounding)) {
    return "needs one of " + names_of(rule->rounding) + " " + types;
  }
  return {};
}

}  // namespace halfwarp::emulator::ptx
