// SPDX-License-Identifier: Apache-2.0
#include "emulator/ptx/verification/conflicting_words.hpp"

#include <algorithm>
#include <iterator>

#include "emulator/ptx/row_words.hpp"
#include "emulator/ptx/verification/form_rules.hpp"
#include "emulator/ptx/verification/needed_words.hpp"
#include "emulator/ptx/word_sets.hpp"

namespace halfwarp::emulator::ptx {

namespace {

using q = qualifier;

// The words that belong to the name of an instruction, in their order. They precede all others.
struct leading_words {
  opcode name;
  std::string_view in_order;
};
constexpr leading_words leading[] = {
    {opcode::bar, ".cta.warp.arrive.red"},
    {opcode::barrier, ".cta.cluster.arrive.red.wait"},
    {opcode::cp, ".reduce.async.bulk.prefetch.tensor.mbarrier.arrive.commit_group.wait_group"},
    {opcode::createpolicy, ".fractional.range.cvt"},
    {opcode::cvt, ".pack"},
    {opcode::cvta, ".to"},
    {opcode::fence, ".proxy"},
    {opcode::mad, ".lo.hi.wide"},
    {opcode::mad24, ".lo.hi"},
    {opcode::madc, ".lo.hi"},
    {opcode::mbarrier,
     ".init.inval.arrive.arrive_drop.expect_tx.complete_tx.test_wait.try_wait.parity"},
    {opcode::membar, ".proxy"},
    {opcode::mul, ".lo.hi.wide"},
    {opcode::mul24, ".lo.hi"},
    {opcode::multimem, ".cp.reduce.async.bulk.ld_reduce.st.red"},
    {opcode::red, ".async"},
    {opcode::shf, ".l.r"},
    {opcode::st, ".async.bulk"},
    {opcode::wmma, ".load.store.mma.a.b.c.d"},
};
static_assert(std::is_sorted(std::begin(leading), std::end(leading),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));

// Returns the position of a word with its dot, or npos.
std::size_t position_of(std::string_view list, std::string_view part) {
  for (std::size_t at = 0; (at = list.find(part, at)) != list.npos; ++at) {
    const std::size_t end = at + part.size();
    if (end == list.size() || list[end] == '.') return at;
  }
  return list.npos;
}

std::string order_problem(const mnemonic& word) {
  const auto* const rule = std::ranges::lower_bound(leading, word.opcode, {}, &leading_words::name);
  if (rule == std::end(leading) || rule->name != word.opcode) return {};
  std::size_t last = 0;
  bool is_behind = false;
  for (std::size_t dot = word.text.find('.'), next = 0; dot != word.text.npos; dot = next) {
    next = word.text.find('.', dot + 1);
    const std::string_view part = word.text.substr(dot, next - dot);
    const std::size_t position = position_of(rule->in_order, part);
    if (position == std::string_view::npos) {
      is_behind = true;
    } else if (is_behind || position < last) {
      return "has '" + std::string{part} + "' behind another modifier";
    } else {
      last = position;
    }
  }
  return {};
}

// The words of a row exclude each other.
constexpr words exclusive[] = {
    {q::rn, q::rz, q::rm, q::rp, q::rni, q::rzi, q::rmi, q::rpi, q::rna},
    {q::weak, q::relaxed, q::acquire, q::release, q::acq_rel, q::sc, q::volatile_},
    {q::ca, q::cg, q::cs, q::lu, q::cv, q::wb, q::wt},
    {q::L2_64B, q::L2_128B, q::L2_256B},
    row_words::first_evictions,
    {q::bulk_group, q::mbarrier_complete_tx_bytes},
    {q::alias, q::async, q::async_global, q::async_shared_cta, q::async_shared_cluster,
     q::async_generic, q::tensormap_generic},
    {q::a, q::b, q::c, q::d},
    scopes,
    {q::cta, q::gl, q::sys},
    row_words::matrix_shapes | row_words::wmma_shapes,
    reductions | words{q::exch, q::cas},
    {q::all, q::any, q::uni, q::ballot},
    {q::idx, q::up, q::down, q::bfly},
    {q::L1, q::L2, q::tensormap},
    row_words::ranks,
    {q::x1, q::x2, q::x4, q::x8, q::x16, q::x32, q::x64, q::x128},
    {q::x32x32b, q::x16x64b, q::x16x128b, q::x16x256b, q::x16x32bx2},
    tensor_kinds,
    a_collectors | b_collectors,
    comparisons};

// The words that a form of an instruction does not have.
struct excluded_words {
  opcode name;
  qualifier form;
  words absent;
};
constexpr words caching{q::ca, q::cg, q::cs, q::lu, q::cv, q::wb, q::wt};
constexpr words ordered{q::relaxed, q::acquire, q::release, q::volatile_};
constexpr words memory_mapped = row_words::first_evictions | caching |
                                words{q::cta,     q::cluster, q::gpu,           q::nc,
                                      q::L2_64B,  q::L2_128B, q::L2_256B,       q::L2_cache_hint,
                                      q::acquire, q::release, q::L2_evict_last, q::L2_evict_first};
constexpr excluded_words excluded[] = {
    {opcode::add, q::cc, {q::sat}},
    {opcode::bar, q::arrive, {q::popc, q::and_, q::or_}},
    {opcode::bar, q::sync, {q::popc, q::and_, q::or_}},
    {opcode::barrier, q::arrive, {q::acquire, q::popc, q::and_, q::or_}},
    {opcode::barrier, q::sync, {q::popc, q::and_, q::or_}},
    {opcode::barrier, q::wait, {q::relaxed, q::release}},
    {opcode::cp, q::prefetch, {q::bulk_group, q::mbarrier_complete_tx_bytes}},
    {opcode::ld, q::mmio, memory_mapped},
    {opcode::ld, q::nc, ordered | words{q::weak}},
    {opcode::ld, q::relaxed, caching},
    {opcode::ld, q::acquire, caching},
    {opcode::ld, q::volatile_, caching | row_words::first_evictions | words{q::L2_cache_hint}},
    {opcode::mad, q::wide, {q::lo, q::hi}},
    {opcode::mul, q::wide, {q::lo, q::hi}},
    {opcode::prefetch, q::L2_evict_last, {q::L1, q::L2, q::tensormap}},
    {opcode::prefetch, q::L2_evict_normal, {q::L1, q::L2, q::tensormap}},
    {opcode::st, q::mmio, memory_mapped},
    {opcode::st, q::relaxed, caching},
    {opcode::st, q::release, caching},
    {opcode::st, q::volatile_, caching | row_words::first_evictions | words{q::L2_cache_hint}},
    {opcode::sub, q::cc, {q::sat}},
};

// Words that an assembler accepts twice. A policy has two priorities.
constexpr words l2_evictions{q::L2_evict_first, q::L2_evict_last, q::L2_evict_normal,
                             q::L2_evict_unchanged};
constexpr words repeatable{q::row,  q::col, q::approx,    q::cc,       q::NaN,
                           q::relu, q::sat, q::satfinite, q::shiftamt, q::sync};

std::string repeated_problem(const mnemonic& word) {
  const auto list = word.qualifiers();
  const words& twice = word.opcode == opcode::createpolicy ? l2_evictions : repeatable;
  for (std::size_t n = 1; n < list.size(); ++n) {
    if (!twice.has(list[n]) && std::ranges::count(list.first(n), list[n])) {
      return "has the modifier " + dotted(spelling(list[n])) + " twice";
    }
  }
  for (const words& set : exclusive) {
    const auto count = std::ranges::count_if(list, [&](q each) { return set.has(each); });
    if (count > 1) return "has two of " + names_of(set);
  }
  return {};
}

}  // namespace

std::string conflict_problem(const mnemonic& word) {
  if (auto problem = order_problem(word); !problem.empty()) return problem;
  if (auto problem = repeated_problem(word); !problem.empty()) return problem;
  for (const excluded_words& each : excluded) {
    if (each.name != word.opcode || !word.has(each.form)) continue;
    for (q other : word.qualifiers()) {
      if (each.absent.has(other))
        return "has " + dotted(spelling(other)) + " with " + dotted(spelling(each.form));
    }
  }
  return {};
}

}  // namespace halfwarp::emulator::ptx
