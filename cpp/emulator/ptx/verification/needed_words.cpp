// SPDX-License-Identifier: Apache-2.0
#include "emulator/ptx/verification/needed_words.hpp"

#include <algorithm>

#include "emulator/ptx/word_sets.hpp"

namespace halfwarp::emulator::ptx {

namespace {

using q = qualifier;

// An instruction, or its form with a word, needs one of a set of words.
struct needed_words {
  opcode name;
  qualifier form;  // unknown: every form
  words one_of;
};
constexpr auto every_form = qualifier::unknown;
constexpr needed_words needs[] = {
    {opcode::applypriority, every_form, {q::L2_evict_normal}},
    {opcode::atom, every_form, reductions | words{q::exch, q::cas}},
    {opcode::bar, every_form, {q::sync, q::arrive, q::red}},
    {opcode::bar, q::red, {q::popc, q::and_, q::or_}},
    {opcode::barrier, every_form, {q::sync, q::arrive, q::red, q::wait}},
    {opcode::barrier, q::red, {q::popc, q::and_, q::or_}},
    {opcode::createpolicy, every_form, {q::fractional, q::range, q::cvt}},
    {opcode::cvt, q::pack, {q::sat}},
    {opcode::discard, every_form, {q::L2}},
    {opcode::elect, every_form, {q::sync}},
    {opcode::fence, every_form, scopes | words{q::proxy}},
    {opcode::griddepcontrol, every_form, {q::launch_dependents, q::wait}},
    {opcode::ld, q::acquire, scopes},
    {opcode::ld, q::relaxed, scopes},
    {opcode::ldmatrix, every_form, {q::sync}},
    {opcode::ldmatrix, every_form, {q::aligned}},
    {opcode::match, every_form, {q::any, q::all}},
    {opcode::match, every_form, {q::sync}},
    {opcode::max, q::xorsign, {q::abs}},
    {opcode::membar, every_form, {q::cta, q::gl, q::sys, q::proxy}},
    {opcode::min, q::xorsign, {q::abs}},
    {opcode::movmatrix, every_form, {q::sync}},
    {opcode::movmatrix, every_form, {q::trans}},
    {opcode::prefetch,
     every_form,
     {q::L1, q::L2, q::L2_evict_last, q::L2_evict_normal, q::tensormap}},
    {opcode::prefetchu, every_form, {q::L1}},
    {opcode::red, every_form, reductions},
    {opcode::redux, every_form, {q::add, q::min, q::max, q::and_, q::or_, q::xor_}},
    {opcode::redux, every_form, {q::sync}},
    {opcode::set, every_form, comparisons},
    {opcode::shf, every_form, {q::wrap, q::clamp}},
    {opcode::shfl, every_form, {q::up, q::down, q::bfly, q::idx}},
    {opcode::st, q::release, scopes},
    {opcode::st, q::relaxed, scopes},
    {opcode::stmatrix, every_form, {q::sync}},
    {opcode::vote, every_form, {q::all, q::any, q::uni, q::ballot}},
};

std::string names_of(const words& set) {
  std::string text;
  for (std::size_t n = 0; n < static_cast<std::size_t>(qualifier::unknown); ++n) {
    const auto each = static_cast<qualifier>(n);
    if (!set.has(each)) continue;
    text += (text.empty() ? "." : ", .") + std::string{spelling(each)};
  }
  return text;
}

// Returns whether a conversion packs two numbers into its result.
bool packs_two(const mnemonic& word) {
  constexpr scalar_type pairs[] = {scalar_type::f16x2,  scalar_type::bf16x2, scalar_type::e4m3x2,
                                   scalar_type::e5m2x2, scalar_type::e2m1x2, scalar_type::e2m3x2,
                                   scalar_type::e3m2x2, scalar_type::ue8m0x2};
  return word.type(1) == scalar_type::f32 && std::ranges::count(pairs, word.type(0));
}

}  // namespace

std::string needed_problem(const mnemonic& word) {
  const bool is_of_space = word.opcode == opcode::isspacep || word.opcode == opcode::cvta;
  if (is_of_space && !word.space_count) return "needs a state space";
  for (const needed_words& each : needs) {
    if (each.name != word.opcode || has_one_of(word, each.one_of)) continue;
    if (each.form != every_form && !word.has(each.form)) continue;
    return "needs one of " + names_of(each.one_of);
  }
  return {};
}

std::optional<std::size_t> count_of_operands(const mnemonic& word, std::uint32_t target) {
  const std::size_t hints = word.has(q::L2_cache_hint);
  switch (word.opcode) {
    case opcode::atom:
      return (word.has(q::cas) ? 4 : 3) + hints;
    case opcode::cvt:
      if (word.has(q::pack) || word.has(q::rs)) return std::nullopt;
      return packs_two(word) ? 3 : 2;
    case opcode::fence:
      return word.has(q::tensormap_generic) && word.has(q::acquire) ? 2 : 0;
    case opcode::ld:
      return 2 + hints;
    case opcode::max:
    case opcode::min:
      if (!target || target >= 100) return std::nullopt;
      return 3;
    case opcode::red:
    case opcode::st:
      if (word.has(q::async)) return std::nullopt;
      return 2 + hints;
    default:
      return std::nullopt;
  }
}

}  // namespace halfwarp::emulator::ptx
