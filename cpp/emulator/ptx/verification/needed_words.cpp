// SPDX-License-Identifier: Apache-2.0
#include "emulator/ptx/verification/needed_words.hpp"

#include <algorithm>
#include <iterator>

#include "emulator/ptx/row_words.hpp"
#include "emulator/ptx/type_set.hpp"
#include "emulator/ptx/verification/conflicting_words.hpp"
#include "emulator/ptx/verification/form_rules.hpp"
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
constexpr words orders{q::relaxed, q::acquire, q::release};
constexpr words bitwise_sums{q::add, q::min, q::max, q::and_, q::or_, q::xor_};
constexpr words groups{q::cta_group_1, q::cta_group_2};
constexpr needed_words needs[] = {
    {opcode::applypriority, every_form, {q::L2_evict_normal}},
    {opcode::atom, every_form, reductions | words{q::exch, q::cas}},
    {opcode::bar, every_form, {q::sync, q::arrive, q::red}},
    {opcode::bar, q::red, {q::popc, q::and_, q::or_}},
    {opcode::barrier, every_form, {q::sync, q::arrive, q::red, q::wait}},
    {opcode::barrier, q::red, {q::popc, q::and_, q::or_}},
    {opcode::cp, every_form, {q::async}},
    {opcode::cp,
     every_form,
     {q::ca, q::cg, q::bulk, q::mbarrier, q::commit_group, q::wait_group, q::wait_all}},
    {opcode::cp,
     q::bulk,
     {q::prefetch, q::bulk_group, q::mbarrier_complete_tx_bytes, q::commit_group, q::wait_group}},
    {opcode::cp, q::L2, {q::prefetch}},
    {opcode::cp, q::mbarrier, {q::arrive}},
    {opcode::cp, q::prefetch, {q::L2}},
    {opcode::cp, q::read, {q::bulk}},
    {opcode::cp, q::reduce, reductions},
    {opcode::cp, q::tile, {q::tensor}},
    {opcode::cp, q::x1d, {q::tensor}},
    {opcode::cp, q::x2d, {q::tensor}},
    {opcode::cp, q::x3d, {q::tensor}},
    {opcode::cp, q::x4d, {q::tensor}},
    {opcode::cp, q::x5d, {q::tensor}},
    {opcode::cp, q::tensor, {q::x1d, q::x2d, q::x3d, q::x4d, q::x5d}},
    {opcode::createpolicy, every_form, {q::fractional, q::range, q::cvt}},
    {opcode::createpolicy,
     q::fractional,
     {q::L2_evict_first, q::L2_evict_last, q::L2_evict_normal, q::L2_evict_unchanged}},
    {opcode::cvt, q::pack, {q::sat}},
    {opcode::discard, every_form, {q::L2}},
    {opcode::dp2a, every_form, {q::lo, q::hi}},
    {opcode::elect, every_form, {q::sync}},
    {opcode::fence, every_form, scopes | words{q::proxy}},
    {opcode::fence, q::proxy, proxies},
    {opcode::fence, q::alias, {q::proxy}},
    {opcode::fence, q::async_generic, {q::acquire, q::release}},
    {opcode::fence,
     q::async_generic,
     {q::sync_restrict_shared_cta, q::sync_restrict_shared_cluster}},
    {opcode::fence, q::mbarrier_init, {q::release}},
    {opcode::fence, q::tensormap_generic, {q::acquire, q::release}},
    {opcode::fence, q::tensormap_generic, scopes},
    {opcode::fence, q::tensormap_generic, {q::proxy}},
    {opcode::griddepcontrol, every_form, {q::launch_dependents, q::wait}},
    {opcode::ld, q::acquire, scopes},
    {opcode::ld, q::mmio, {q::relaxed}},
    {opcode::ld, q::relaxed, scopes},
    {opcode::ldmatrix, every_form, {q::sync}},
    {opcode::ldmatrix, every_form, {q::aligned}},
    {opcode::ldmatrix, every_form, {q::x1, q::x2, q::x4}},
    {opcode::ldmatrix, q::m16n16, {q::trans}},
    {opcode::match, every_form, {q::any, q::all}},
    {opcode::match, every_form, {q::sync}},
    {opcode::max, q::abs, {q::xorsign}},
    {opcode::max, q::xorsign, {q::abs}},
    {opcode::mbarrier, q::acquire, scopes},
    {opcode::mbarrier, q::relaxed, scopes},
    {opcode::mbarrier, q::release, scopes},
    {opcode::membar, every_form, {q::cta, q::gl, q::sys, q::proxy}},
    {opcode::min, q::abs, {q::xorsign}},
    {opcode::min, q::xorsign, {q::abs}},
    {opcode::movmatrix, every_form, {q::sync}},
    {opcode::movmatrix, every_form, {q::aligned}},
    {opcode::movmatrix, every_form, {q::m8n8}},
    {opcode::movmatrix, every_form, {q::trans}},
    {opcode::multimem, q::acquire, scopes},
    {opcode::multimem, q::cp, {q::bulk_group}},
    {opcode::multimem, q::ld_reduce, bitwise_sums},
    {opcode::multimem, q::red, bitwise_sums},
    {opcode::multimem, q::reduce, reductions},
    {opcode::multimem, q::relaxed, scopes},
    {opcode::multimem, q::release, scopes},
    {opcode::prefetch,
     every_form,
     {q::L1, q::L2, q::L2_evict_last, q::L2_evict_normal, q::tensormap}},
    {opcode::prefetchu, every_form, {q::L1}},
    {opcode::red, every_form, reductions},
    {opcode::red, q::async, {q::relaxed}},
    {opcode::red, q::async, {q::mbarrier_complete_tx_bytes}},
    {opcode::redux, every_form, {q::add, q::min, q::max, q::and_, q::or_, q::xor_}},
    {opcode::redux, every_form, {q::sync}},
    {opcode::set, every_form, comparisons},
    {opcode::mul24, every_form, {q::lo, q::hi}},
    {opcode::setmaxnreg, every_form, {q::aligned}},
    {opcode::setmaxnreg, every_form, {q::sync}},
    {opcode::shf, every_form, {q::wrap, q::clamp}},
    {opcode::shf, every_form, {q::l, q::r}},
    {opcode::shfl, every_form, {q::up, q::down, q::bfly, q::idx}},
    {opcode::st, q::async, {q::mbarrier_complete_tx_bytes}},
    {opcode::st, q::mmio, {q::relaxed}},
    {opcode::st, q::release, scopes},
    {opcode::st, q::relaxed, scopes},
    {opcode::stmatrix, every_form, {q::sync}},
    {opcode::stmatrix, every_form, {q::aligned}},
    {opcode::szext, every_form, {q::clamp, q::wrap}},
    {opcode::stmatrix, every_form, {q::x1, q::x2, q::x4}},
    {opcode::stmatrix, every_form, {q::m8n8, q::m16n8}},
    {opcode::stmatrix, q::m16n8, {q::trans}},
    {opcode::tcgen05, q::alloc, groups},
    {opcode::tcgen05, q::alloc, {q::aligned}},
    {opcode::tcgen05, q::block16, {q::block_scale}},
    {opcode::tcgen05, q::block32, {q::block_scale}},
    {opcode::tcgen05, q::commit, groups},
    {opcode::tcgen05, q::commit, {q::mbarrier_arrive_one}},
    {opcode::tcgen05, q::cp, groups},
    {opcode::tcgen05, q::dealloc, groups},
    {opcode::tcgen05, q::kind_mxf4, {q::block_scale}},
    {opcode::tcgen05, q::kind_mxf4nvf4, {q::block_scale}},
    {opcode::tcgen05, q::kind_mxf4nvf4, {q::scale_vec_2X, q::scale_vec_4X, q::block16, q::block32}},
    {opcode::tcgen05, q::kind_mxf8f6f4, {q::block_scale}},
    {opcode::tcgen05, q::ld, {q::aligned}},
    {opcode::tcgen05, q::ld, {q::sync}},
    {opcode::tcgen05, q::mma, groups},
    {opcode::tcgen05, q::mma, tensor_kinds},
    {opcode::tcgen05, q::red, {q::min, q::max}},
    {opcode::tcgen05, q::relinquish_alloc_permit, groups},
    {opcode::tcgen05, q::scale_vec_1X, {q::block_scale}},
    {opcode::tcgen05, q::scale_vec_2X, {q::block_scale}},
    {opcode::tcgen05, q::scale_vec_4X, {q::block_scale}},
    {opcode::tcgen05, q::shift, groups},
    {opcode::tcgen05, q::shift, {q::down}},
    {opcode::tcgen05, q::st, {q::aligned}},
    {opcode::tcgen05, q::st, {q::sync}},
    {opcode::tcgen05, q::wait_ld, {q::aligned}},
    {opcode::tcgen05, q::wait_st, {q::aligned}},
    {opcode::tcgen05, q::x16x128b, {q::x1, q::x2, q::x4, q::x8, q::x16, q::x32, q::x64}},
    {opcode::tcgen05, q::x16x256b, {q::x1, q::x2, q::x4, q::x8, q::x16, q::x32}},
    {opcode::tcgen05, q::x32x128b, {q::warpx4}},
    {opcode::tcgen05, q::x64x128b, {q::warpx2_01_23, q::warpx2_02_13}},
    {opcode::tensormap, q::replace, {q::b1024}},
    {opcode::tensormap, q::replace, {q::tile}},
    {opcode::tensormap, q::cp_fenceproxy, {q::aligned}},
    {opcode::tensormap, q::cp_fenceproxy, {q::release}},
    {opcode::tensormap, q::cp_fenceproxy, {q::sync}},
    {opcode::tensormap, q::cp_fenceproxy, {q::tensormap_generic}},
    {opcode::tensormap, q::cp_fenceproxy, scopes},
    {opcode::vote, every_form, {q::all, q::any, q::uni, q::ballot}},
    {opcode::vset, every_form, comparisons},
    {opcode::vset2, every_form, comparisons},
    {opcode::vset4, every_form, comparisons},
    {opcode::vshl, every_form, {q::clamp, q::wrap}},
    {opcode::vshr, every_form, {q::clamp, q::wrap}},
};

// Returns whether a conversion packs two numbers into its result.
bool packs_two(const mnemonic& word) {
  constexpr scalar_type pairs[] = {scalar_type::f16x2,  scalar_type::bf16x2,  scalar_type::e4m3x2,
                                   scalar_type::e5m2x2, scalar_type::e2m1x2,  scalar_type::e2m3x2,
                                   scalar_type::e3m2x2, scalar_type::ue8m0x2, scalar_type::s2f6x2};
  return word.type(1) == scalar_type::f32 && std::ranges::count(pairs, word.type(0));
}

// Returns the state spaces that an instruction names; nothing: any number.
std::optional<std::size_t> count_of_spaces(const mnemonic& word) {
  switch (word.opcode) {
    case opcode::isspacep:
    case opcode::cvta:
      return 1;
    case opcode::clusterlaunchcontrol:
    case opcode::multimem:
      if (word.has(q::cp)) return 2;
      return std::min<std::size_t>(word.space_count, 1);
    case opcode::fence:
      if (!word.has(q::proxy)) return 0;
      return std::min<std::size_t>(word.space_count, 1);
    case opcode::prefetchu:
      return 0;
    case opcode::applypriority:
    case opcode::atom:
    case opcode::createpolicy:
    case opcode::discard:
    case opcode::getctarank:
    case opcode::ld:
    case opcode::ldmatrix:
    case opcode::ldu:
    case opcode::mapa:
    case opcode::mbarrier:
    case opcode::prefetch:
    case opcode::red:
    case opcode::st:
    case opcode::stmatrix:
    case opcode::wmma:
      return std::min<std::size_t>(word.space_count, 1);
    case opcode::tensormap:
      if (word.has(q::cp_fenceproxy)) return 2;
      return std::nullopt;
    case opcode::cp:
      if (word.has(q::prefetch)) return 1;
      return word.has(q::ca) || word.has(q::cg) ||
                     (word.has(q::bulk) &&
                      (word.has(q::bulk_group) || word.has(q::mbarrier_complete_tx_bytes)))
                 ? std::optional<std::size_t>{2}
                 : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::size_t count_of_vectors(std::string_view text) {
  std::size_t count = 0;
  for (const std::string_view width : {".v2", ".v4", ".v8"}) {
    for (std::size_t at = 0; (at = text.find(width, at)) != text.npos; at += width.size()) ++count;
  }
  return count;
}

const char* barrier_problem(const mnemonic& word) {
  if (word.opcode == opcode::bar && word.has(q::aligned)) return "has no .aligned";
  if (word.has(q::sync) + word.has(q::arrive) + word.has(q::red) + word.has(q::wait) > 1)
    return "has two operations";
  if (!word.has(q::red)) return word.type_count ? "has no type without .red" : "";
  return word.type() == (word.has(q::popc) ? scalar_type::u32 : scalar_type::pred)
             ? ""
             : "has no such type";
}

const char* conversion_problem(const mnemonic& word) {
  using enum scalar_type;
  constexpr scalar_type pairs[] = {e4m3x2, e5m2x2, e2m1x2, e2m3x2, e3m2x2, s2f6x2};
  const scalar_type to = word.type(0);
  if (std::ranges::count(pairs, to) && !word.has(q::satfinite)) return "needs .satfinite";
  if (!word.has(q::pack)) return "";
  const bool is_half = to == u16 || to == s16;
  if (word.type(1) != s32 || (!is_half && word.type(2) != b32)) return "has no such types";
  return is_half == (word.type_count == 2) ? "" : "has another number of types";
}

const char* fence_problem(const mnemonic& word) {
  constexpr words plain{q::alias, q::async, q::async_global, q::async_shared_cta,
                        q::async_shared_cluster};
  if (!word.has(q::proxy)) return "";
  if (has_one_of(word, plain) && has_one_of(word, scopes | orders | words{q::acq_rel, q::sc}))
    return "has an order or a scope";
  const state_space space = word.space();
  const bool is_known = space == state_space::global || space == state_space::shared_cta ||
                        space == state_space::shared_cluster;
  return !word.space_count || (is_known && word.has(q::async)) ? "" : "has no such state space";
}

// The types that set compares for each type of its result.
struct compared_types {
  type_set results, compared;
};
const char* set_problem(const mnemonic& word) {
  using enum scalar_type;
  constexpr type_set plain = integers | type_set{b16, b32, b64, f32, f64};
  constexpr compared_types rows[] = {
      {{u32, s32}, plain | halves},   {{f32}, plain},
      {{f16}, plain | type_set{f16}}, {{bf16}, plain | type_set{f16, bf16}},
      {{u16, s16}, {f16, bf16}},      {{f16x2}, {f16x2}},
      {{bf16x2}, {bf16x2}},
  };
  const auto* const row = std::ranges::find_if(
      rows, [&](const compared_types& each) { return each.results.has(word.type()); });
  if (row == std::end(rows) || !row->compared.has(word.type(1))) return "has no such types";
  constexpr type_set flushed{f16, f16x2, f32};
  return word.has(q::ftz) && (!flushed.has(word.type(1)) || word.type() == bf16)
             ? "has no .ftz for these types"
             : "";
}

const char* matrix_problem(const mnemonic& word) {
  const scalar_type type = word.type(0);
  const bool is_expanded = type == scalar_type::b8x16, is_half = type == scalar_type::b16;
  const bool has_types = is_half == word.has(q::m8n8) && word.type_count == 1u + is_expanded &&
                         (is_expanded || is_half || type == scalar_type::b8);
  return has_types && (is_expanded || !word.has(q::m8n16)) ? "" : "has no such types";
}

// The types of the matrices of a wmma load or store.
struct wmma_types {
  words shapes;
  type_set factors, sums;
};
const char* wmma_problem(const mnemonic& word) {
  using enum scalar_type;
  constexpr wmma_types rows[] = {
      {{q::m16n16k16, q::m8n32k16, q::m32n8k16}, {f16, bf16, u8, s8}, {f16, f32, s32}},
      {{q::m16n16k8}, {tf32}, {f32}},
      {{q::m8n8k4}, {f64}, {f64}},
      {{q::m8n8k32}, {u4, s4}, {s32}},
      {{q::m8n8k128}, {b1}, {s32}},
  };
  if (!word.has(q::sync) || !word.has(q::aligned)) return "needs .sync and .aligned";
  const auto* const row = std::ranges::find_if(
      rows, [&](const wmma_types& each) { return has_one_of(word, each.shapes); });
  if (row == std::end(rows)) return "needs a shape";
  if (word.has(q::mma)) return "";
  const auto list = word.qualifiers();
  if (std::ranges::count(list, q::row) + std::ranges::count(list, q::col) != 1)
    return "needs .row or .col";
  const bool has_few_bits = word.has(q::m8n8k32) || word.has(q::m8n8k128);
  if (has_few_bits &&
      ((word.has(q::a) && word.has(q::col)) || (word.has(q::b) && word.has(q::row))))
    return "has another layout for few bits";
  const bool is_factor = word.has(q::a) || word.has(q::b);
  if (!is_factor && !word.has(q::c) && !word.has(q::d)) return "needs a matrix";
  return (is_factor ? row->factors : row->sums).has(word.type()) ? "" : "has no such type";
}

std::string selection_problem(const mnemonic& word) {
  const scalar_type by = word.type(1);
  if (word.has(q::ftz) && by != scalar_type::f32) return "has .ftz for .f32 alone";
  return by == scalar_type::s32 || by == scalar_type::f32 ? "" : "selects by .s32 or .f32";
}

// Returns what a form needs that depends on its types and on other words.
std::string form_problem(const mnemonic& word, std::uint32_t version) {
  const scalar_type to = word.type(0);
  switch (word.opcode) {
    case opcode::bar:
    case opcode::barrier:
      return barrier_problem(word);
    case opcode::ex2: {
      const bool is_half = to == scalar_type::f16 || to == scalar_type::f16x2;
      if (to == scalar_type::f32 || is_half != word.has(q::ftz)) return {};
      return is_half ? "has no .ftz for this type" : "needs .ftz";
    }
    case opcode::createpolicy:
      return word.has(q::fractional) && word.space_count ? "has no state space" : "";
    case opcode::fence:
      return fence_problem(word);
    case opcode::set:
      return set_problem(word);
    case opcode::slct:
      return selection_problem(word);
    case opcode::cvt:
      return conversion_problem(word);
    case opcode::vabsdiff2:
    case opcode::vabsdiff4:
    case opcode::vadd2:
    case opcode::vadd4:
    case opcode::vsub2:
    case opcode::vsub4:
      return word.has(q::add) && word.has(q::sat) ? "has .add and .sat" : "";
    case opcode::ldmatrix:
    case opcode::stmatrix:
      return matrix_problem(word);
    case opcode::wmma:
      return wmma_problem(word);
    case opcode::ld:
    case opcode::st:
    case opcode::multimem:
    case opcode::mbarrier:
      return has_one_of(word, scopes) && !has_one_of(word, orders) && !word.has(q::async)
                 ? "has a scope, which needs one of " + names_of(orders)
                 : "";
    case opcode::mad:
      if (!is_floating(to)) return {};
      if (word.has(q::cc)) return "has no .cc for floats";
      if (to == scalar_type::f32 && version < 32) return {};  // it meant .rn
      return has_one_of(word, roundings) ? "" : "needs one of " + names_of(roundings);
    case opcode::rcp:
      return word.has(q::approx) && to == scalar_type::f64 && !word.has(q::ftz) ? "needs .ftz" : "";
    case opcode::red:
      return word.has(q::async) && word.has(q::relaxed) && !has_one_of(word, scopes)
                 ? "needs one of " + names_of(scopes)
                 : "";
    default:
      return {};
  }
}

std::size_t operands_of_bulk_copy(const mnemonic& word) {
  if (word.has(q::commit_group)) return 0;
  if (word.has(q::wait_group)) return 1;
  return (word.has(q::prefetch) ? 2u : 3u) + word.has(q::mbarrier_complete_tx_bytes) +
         word.has(q::multicast_cluster) + word.has(q::cp_mask) + word.has(q::L2_cache_hint);
}

}  // namespace

std::string names_of(const words& set) {
  std::string text;
  for (std::size_t n = 0; n < static_cast<std::size_t>(qualifier::unknown); ++n) {
    const auto each = static_cast<qualifier>(n);
    if (!set.has(each)) continue;
    text += (text.empty() ? "." : ", .") + std::string{spelling(each)};
  }
  return text;
}

std::string needed_problem(const mnemonic& word, std::uint32_t version) {
  const auto spaces = count_of_spaces(word);
  if (spaces && *spaces != word.space_count) {
    return "needs " + std::to_string(*spaces) + " state spaces, not " +
           std::to_string(word.space_count);
  }
  constexpr opcode scalar[] = {opcode::applypriority, opcode::cp,       opcode::createpolicy,
                               opcode::cvta,          opcode::discard,  opcode::fence,
                               opcode::getctarank,    opcode::isspacep, opcode::ldmatrix,
                               opcode::mapa,          opcode::mbarrier, opcode::prefetch,
                               opcode::prefetchu,     opcode::stmatrix, opcode::wmma};
  if (word.vector_width > 1 && std::ranges::count(scalar, word.opcode)) return "has no vectors";
  if (word.vector_width > 1 && count_of_vectors(word.text) > 1) return "has two sizes of vectors";
  if (auto problem = conflict_problem(word); !problem.empty()) return problem;
  if (auto problem = form_problem(word, version); !problem.empty()) return problem;
  for (const needed_words& each : needs) {
    if (each.name != word.opcode || has_one_of(word, each.one_of)) continue;
    if (each.form != every_form && !word.has(each.form)) continue;
    return "needs one of " + names_of(each.one_of);
  }
  return {};
}

std::optional<std::size_t> count_of_operands(const mnemonic& word) {
  const std::size_t hints = word.has(q::L2_cache_hint);
  const bool is_combined = word.has(q::and_) || word.has(q::or_) || word.has(q::xor_);
  switch (word.opcode) {
    case opcode::atom:
      return (word.has(q::cas) ? 4 : 3) + hints;
    case opcode::bar:
      if (word.has(q::warp)) return 1;
      return std::nullopt;
    case opcode::cp:
      if (!word.has(q::bulk) || word.has(q::tensor)) return std::nullopt;
      return operands_of_bulk_copy(word);
    case opcode::lop3:
      return is_combined ? 6 : 5;
    case opcode::set:
    case opcode::setp:
      return is_combined ? 4 : 3;
    case opcode::cvt:
      if (word.has(q::pack)) return word.type_count + 1;
      if (word.has(q::rs)) return std::nullopt;
      return (packs_two(word) ? 3 : 2) + word.has(q::scaled_n2_ue8m0);
    case opcode::fence:
      return word.has(q::tensormap_generic) && word.has(q::acquire) ? 2 : 0;
    case opcode::ld:
      return 2 + hints;
    case opcode::mbarrier:
      if (word.has(q::expect_tx) && (word.has(q::arrive) || word.has(q::arrive_drop))) return 3;
      return std::nullopt;
    case opcode::red:
    case opcode::st:
      if (word.has(q::async) || word.has(q::bulk)) return std::nullopt;
      return 2 + hints;
    case opcode::vote:
      return word.has(q::sync) ? 3 : 2;
    default:
      return std::nullopt;
  }
}

}  // namespace halfwarp::emulator::ptx
