// SPDX-License-Identifier: Apache-2.0
// The PTX version and the target that introduced each form of an instruction.
#include "emulator/ptx/instruction_table.hpp"

#include <algorithm>
#include <iterator>

#include "emulator/ptx/word_sets.hpp"

namespace halfwarp::emulator::ptx {

namespace {

using q = qualifier;

// A word or type of an instruction that came after the instruction. Both must be present.
struct later_form {
  opcode name;
  qualifier word;    // unknown: any
  scalar_type type;  // none: any
  since first;
  bool is_vector = false;
};
constexpr auto no_word = qualifier::unknown;
constexpr auto no_type = scalar_type::none;
constexpr later_form later_forms[] = {
    {opcode::abs, no_word, scalar_type::bf16, {70, 80}},
    {opcode::abs, no_word, scalar_type::bf16x2, {70, 80}},
    {opcode::abs, no_word, scalar_type::f16, {65, 53}},
    {opcode::abs, no_word, scalar_type::f16x2, {65, 53}},
    {opcode::add, no_word, scalar_type::bf16, {78, 90}},
    {opcode::add, no_word, scalar_type::bf16x2, {78, 90}},
    {opcode::add, no_word, scalar_type::f16, {42, 53}},
    {opcode::add, no_word, scalar_type::f16x2, {42, 53}},
    {opcode::add, no_word, scalar_type::f32x2, {86, 100}},
    {opcode::add, no_word, scalar_type::s16x2, {80, 90}},
    {opcode::add, no_word, scalar_type::u16x2, {80, 90}},
    {opcode::atom, no_word, no_type, {81, 90}, true},
    {opcode::atom, no_word, scalar_type::b128, {83, 90}},
    {opcode::atom, no_word, scalar_type::b16, {63, 70}},
    {opcode::atom, no_word, scalar_type::bf16, {78, 90}},
    {opcode::atom, no_word, scalar_type::bf16x2, {78, 90}},
    {opcode::atom, no_word, scalar_type::f16, {63, 70}},
    {opcode::atom, no_word, scalar_type::f16x2, {62, 60}},
    {opcode::atom, q::add, scalar_type::f64, {50, 60}},
    {opcode::bar, q::cta, no_type, {78, 30}},
    {opcode::bar, q::warp, no_type, {60, 30}},
    {opcode::barrier, q::acquire, no_type, {80, 90}},
    {opcode::barrier, q::cta, no_type, {78, 30}},
    {opcode::barrier, q::relaxed, no_type, {80, 90}},
    {opcode::barrier, q::release, no_type, {80, 90}},
    {opcode::cp, q::bulk, no_type, {80, 90}},
    {opcode::cp, q::cp_mask, no_type, {86, 100}},
    {opcode::cp, q::tile_gather4, no_type, {86, 100}},
    {opcode::cp, q::tile_scatter4, no_type, {86, 100}},
    {opcode::cvt, no_word, scalar_type::bf16, {70, 80}},
    {opcode::cvt, no_word, scalar_type::bf16x2, {70, 80}},
    {opcode::cvt, no_word, scalar_type::e2m1x2, {86, 100}},
    {opcode::cvt, no_word, scalar_type::e2m3x2, {86, 100}},
    {opcode::cvt, no_word, scalar_type::e3m2x2, {86, 100}},
    {opcode::cvt, no_word, scalar_type::e4m3x2, {78, 89}},
    {opcode::cvt, no_word, scalar_type::e5m2x2, {78, 89}},
    {opcode::cvt, no_word, scalar_type::f16x2, {70, 80}},
    {opcode::cvt, no_word, scalar_type::tf32, {70, 80}},
    {opcode::cvt, no_word, scalar_type::ue8m0x2, {86, 100}},
    {opcode::cvt, no_word, scalar_type::s2f6x2, {91, 100}},
    {opcode::cvt, q::pack, scalar_type::s2, {65, 75}},
    {opcode::cvt, q::pack, scalar_type::s4, {65, 75}},
    {opcode::cvt, q::pack, scalar_type::u2, {65, 75}},
    {opcode::cvt, q::pack, scalar_type::u4, {65, 75}},
    {opcode::cvt, q::relu, no_type, {70, 80}},
    {opcode::cvt, q::rn, scalar_type::tf32, {78, 90}},
    {opcode::cvt, q::rs, no_type, {87, 100}},
    {opcode::cvt, q::rz, scalar_type::tf32, {78, 90}},
    {opcode::ex2, no_word, scalar_type::bf16, {78, 90}},
    {opcode::ex2, no_word, scalar_type::bf16x2, {78, 90}},
    {opcode::ex2, no_word, scalar_type::f16, {70, 75}},
    {opcode::ex2, no_word, scalar_type::f16x2, {70, 75}},
    {opcode::fence, q::async, no_type, {80, 90}},
    {opcode::fence, q::mbarrier_init, no_type, {80, 90}},
    {opcode::fence, q::proxy, no_type, {75, 70}},
    {opcode::fence, q::tensormap_generic, no_type, {83, 90}},
    {opcode::fma, no_word, scalar_type::bf16, {70, 80}},
    {opcode::fma, no_word, scalar_type::bf16x2, {70, 80}},
    {opcode::fma, no_word, scalar_type::f16, {42, 53}},
    {opcode::fma, no_word, scalar_type::f16x2, {42, 53}},
    {opcode::fma, no_word, scalar_type::f32x2, {86, 100}},
    {opcode::fma, q::oob, no_type, {81, 90}},
    {opcode::fma, q::relu, no_type, {70, 80}},
    {opcode::ld, no_word, scalar_type::b128, {83, 70}},
    {opcode::lop3, q::and_, no_type, {82, 70}},
    {opcode::lop3, q::or_, no_type, {82, 70}},
    {opcode::max, no_word, scalar_type::bf16, {70, 80}},
    {opcode::max, no_word, scalar_type::bf16x2, {70, 80}},
    {opcode::max, no_word, scalar_type::f16, {70, 80}},
    {opcode::max, no_word, scalar_type::f16x2, {70, 80}},
    {opcode::max, no_word, scalar_type::s16x2, {80, 90}},
    {opcode::max, no_word, scalar_type::u16x2, {80, 90}},
    {opcode::max, q::NaN, no_type, {70, 80}},
    {opcode::max, q::relu, scalar_type::s32, {80, 90}},
    {opcode::max, q::xorsign, no_type, {72, 86}},
    {opcode::mbarrier, q::acquire, no_type, {80, 80}},
    {opcode::mbarrier, q::complete_tx, no_type, {80, 90}},
    {opcode::mbarrier, q::expect_tx, no_type, {80, 90}},
    {opcode::mbarrier, q::parity, no_type, {71, 80}},
    {opcode::mbarrier, q::release, no_type, {80, 80}},
    {opcode::min, no_word, scalar_type::bf16, {70, 80}},
    {opcode::min, no_word, scalar_type::bf16x2, {70, 80}},
    {opcode::min, no_word, scalar_type::f16, {70, 80}},
    {opcode::min, no_word, scalar_type::f16x2, {70, 80}},
    {opcode::min, no_word, scalar_type::s16x2, {80, 90}},
    {opcode::min, no_word, scalar_type::u16x2, {80, 90}},
    {opcode::min, q::NaN, no_type, {70, 80}},
    {opcode::min, q::relu, scalar_type::s32, {80, 90}},
    {opcode::min, q::xorsign, no_type, {72, 86}},
    {opcode::mma, no_word, scalar_type::bf16, {70, 80}},
    {opcode::mma, no_word, scalar_type::e4m3, {84, 89}},
    {opcode::mma, no_word, scalar_type::e5m2, {84, 89}},
    {opcode::mma, no_word, scalar_type::f64, {70, 80}},
    {opcode::mma, no_word, scalar_type::tf32, {70, 80}},
    {opcode::mma, q::and_, no_type, {71, 80}},
    {opcode::mma, q::kind_f8f6f4, no_type, {87, 120}},
    {opcode::mma, q::m16n8k128, no_type, {70, 80}},
    {opcode::mma, q::m16n8k16, no_type, {70, 80}},
    {opcode::mma, q::m16n8k16, scalar_type::f64, {78, 90}},
    {opcode::mma, q::m16n8k256, no_type, {70, 80}},
    {opcode::mma, q::m16n8k32, no_type, {70, 80}},
    {opcode::mma, q::m16n8k4, no_type, {70, 80}},
    {opcode::mma, q::m16n8k4, scalar_type::f64, {78, 90}},
    {opcode::mma, q::m16n8k64, no_type, {70, 80}},
    {opcode::mma, q::m16n8k8, no_type, {65, 75}},
    {opcode::mma, q::m16n8k8, scalar_type::f64, {78, 90}},
    {opcode::mma, q::m8n8k128, no_type, {70, 75}},
    {opcode::mma, q::m8n8k16, no_type, {65, 75}},
    {opcode::mma, q::m8n8k32, no_type, {65, 75}},
    {opcode::mov, no_word, scalar_type::b128, {83, 70}},
    {opcode::mul, no_word, scalar_type::bf16, {78, 90}},
    {opcode::mul, no_word, scalar_type::bf16x2, {78, 90}},
    {opcode::mul, no_word, scalar_type::f16, {42, 53}},
    {opcode::mul, no_word, scalar_type::f16x2, {42, 53}},
    {opcode::mul, no_word, scalar_type::f32x2, {86, 100}},
    {opcode::multimem, q::cp_mask, no_type, {91, 100}},
    {opcode::neg, no_word, scalar_type::bf16, {70, 80}},
    {opcode::neg, no_word, scalar_type::bf16x2, {70, 80}},
    {opcode::neg, no_word, scalar_type::f16, {60, 53}},
    {opcode::neg, no_word, scalar_type::f16x2, {60, 53}},
    {opcode::prefetch, q::L2_evict_last, no_type, {74, 80}},
    {opcode::prefetch, q::L2_evict_normal, no_type, {74, 80}},
    {opcode::prefetch, q::tensormap, no_type, {80, 90}},
    {opcode::red, no_word, no_type, {81, 90}, true},
    {opcode::red, no_word, scalar_type::bf16, {78, 90}},
    {opcode::red, no_word, scalar_type::bf16x2, {78, 90}},
    {opcode::red, no_word, scalar_type::f16, {63, 70}},
    {opcode::red, no_word, scalar_type::f16x2, {62, 60}},
    {opcode::red, q::add, scalar_type::f64, {50, 60}},
    {opcode::redux, no_word, scalar_type::f32, {86, 100}},
    {opcode::set, no_word, scalar_type::bf16, {78, 90}},
    {opcode::set, no_word, scalar_type::bf16x2, {78, 90}},
    {opcode::set, no_word, scalar_type::f16, {42, 53}},
    {opcode::set, no_word, scalar_type::f16x2, {42, 53}},
    {opcode::setp, no_word, scalar_type::bf16, {78, 90}},
    {opcode::setp, no_word, scalar_type::bf16x2, {78, 90}},
    {opcode::setp, no_word, scalar_type::f16, {42, 53}},
    {opcode::setp, no_word, scalar_type::f16x2, {42, 53}},
    {opcode::shfl, q::sync, no_type, {60, 30}},
    {opcode::sub, no_word, scalar_type::bf16, {78, 90}},
    {opcode::sub, no_word, scalar_type::bf16x2, {78, 90}},
    {opcode::sub, no_word, scalar_type::f16, {42, 53}},
    {opcode::sub, no_word, scalar_type::f16x2, {42, 53}},
    {opcode::sub, no_word, scalar_type::f32x2, {86, 100}},
    {opcode::tanh, no_word, scalar_type::bf16, {78, 90}},
    {opcode::tanh, no_word, scalar_type::bf16x2, {78, 90}},
    {opcode::tcgen05, q::block16, no_type, {88, 100}},
    {opcode::tcgen05, q::block32, no_type, {88, 100}},
    {opcode::tcgen05, q::kind_mxf4nvf4, no_type, {87, 100}},
    {opcode::vote, q::sync, no_type, {60, 30}},
    {opcode::wgmma, q::sp, no_type, {82, 90}},
    {opcode::wmma, no_word, scalar_type::bf16, {70, 80}},
    {opcode::wmma, no_word, scalar_type::f64, {70, 80}},
    {opcode::wmma, no_word, scalar_type::s8, {63, 72}},
    {opcode::wmma, no_word, scalar_type::tf32, {70, 80}},
    {opcode::wmma, no_word, scalar_type::u8, {63, 72}},
    {opcode::wmma, q::and_, no_type, {71, 80}},
    {opcode::wmma, q::m32n8k16, no_type, {61, 70}},
    {opcode::wmma, q::m8n32k16, no_type, {61, 70}},
    {opcode::wmma, q::m8n8k128, no_type, {63, 75}},
    {opcode::wmma, q::m8n8k32, no_type, {63, 75}},
};

// A word that came after each instruction that has it.
struct later_word {
  qualifier word;
  since first;
};
constexpr later_word later_words[] = {
    {q::L1_evict_first, {74, 70}},
    {q::L1_evict_last, {74, 70}},
    {q::L1_evict_normal, {74, 70}},
    {q::L1_evict_unchanged, {74, 70}},
    {q::L1_no_allocate, {74, 70}},
    {q::L2_128B, {74, 75}},
    {q::L2_256B, {74, 80}},
    {q::L2_64B, {74, 75}},
    {q::L2_cache_hint, {74, 80}},
    {q::cluster, {78, 90}},
    {q::mmio, {82, 70}},
};

since latest(since a, since b) {
  return {std::max(a.version, b.version), std::max(a.target, b.target)};
}

bool applies(const later_form& form, const mnemonic& m) noexcept {
  if (form.word != no_word && !m.has(form.word)) return false;
  if (form.type != no_type && std::ranges::find(m.types(), form.type) == m.types().end()) {
    return false;
  }
  return !form.is_vector || m.vector_width > 1;
}

since first_of_space(opcode op, state_space space) {
  // The word is as old as cp.async.
  if (space == state_space::shared_cta) return op == opcode::cp ? since{} : since{78, 30};
  if (space == state_space::shared_cluster) return {78, 90};
  const bool is_query = op == opcode::isspacep || op == opcode::cvta;
  return is_query && space == state_space::param ? since{77, 70} : since{};
}

// Returns the first version and target of a conversion from or to bf16. PTX 7.0 has conversions
// from float. PTX 7.1 has those to float too, and 7.8 has all of them. A float that is limited to
// finite values of 16 or more bits came with PTX 8.1.
since first_of_conversion(const mnemonic& m) {
  using t = scalar_type;
  const auto has = [&](scalar_type type) { return m.type(0) == type || m.type(1) == type; };
  if (m.type_count != 2) return {};
  constexpr t pairs[] = {t::e2m3x2, t::e3m2x2, t::e2m1x2, t::e4m3x2, t::e5m2x2};
  const auto is_pair = [&](t type, std::ptrdiff_t first) {
    return std::ranges::find(pairs, type) - pairs < first;
  };
  if (m.type(1) == t::bf16x2 && is_pair(m.type(0), 5)) return {91, 100};
  if (m.type(1) == t::f16x2 && is_pair(m.type(0), 2)) return {91, 100};
  if (m.type(0) == t::bf16x2 && is_pair(m.type(1), 5)) return {92, 100};
  if (m.type(0) == t::tf32 && m.has(q::satfinite) && !m.has(q::rna)) return {86, 100};
  constexpr t finite[] = {t::f16, t::f16x2, t::bf16, t::bf16x2, t::tf32};
  const bool is_finite = m.has(q::satfinite) && m.type(1) == t::f32;
  if (is_finite && std::ranges::find(finite, m.type(0)) != std::end(finite)) return {81, 0};
  if (!has(t::bf16)) return {};
  if (!has(t::f32) || (m.type(1) == t::bf16 && m.has(q::ftz))) return {78, 90};
  return m.type(1) == t::bf16 ? since{71, 80} : since{};
}

// Sums of a half and an f32.
since first_of_mixed_sum(const mnemonic& m) {
  const bool is_sum = m.opcode == opcode::add || m.opcode == opcode::sub || m.opcode == opcode::fma;
  return is_sum && m.type_count == 2 ? since{86, 100} : since{};
}

// Changes of the count of bytes were .relaxed first.
since first_of_relaxed(const mnemonic& m) {
  constexpr words operations{q::arrive, q::arrive_drop, q::test_wait, q::try_wait};
  return m.has(q::relaxed) && has_one_of(m, operations) ? since{86, 90} : since{};
}

// Scales of a default size came after the sizes.
since first_of_scales(const mnemonic& m) {
  const bool is_named = m.has(q::scale_vec_1X) || m.has(q::scale_vec_2X) || m.has(q::scale_vec_4X);
  return m.has(q::block_scale) && !is_named ? since{88, 100} : since{};
}

}  // namespace

since first_of(const mnemonic& m) noexcept {
  const instruction_row* const row = find_row(m);
  since result = row ? row->first : since{};
  for (const later_form& form : later_forms) {
    if (form.name == m.opcode && applies(form, m)) result = latest(result, form.first);
  }
  for (const later_word& each : later_words) {
    if (m.has(each.word)) result = latest(result, each.first);
  }
  for (std::size_t n = 0; n < m.space_count; ++n) {
    result = latest(result, first_of_space(m.opcode, m.space(n)));
  }
  if (m.opcode == opcode::tcgen05) return latest(result, first_of_scales(m));
  if (m.opcode == opcode::mbarrier) return latest(result, first_of_relaxed(m));
  result = latest(result, first_of_mixed_sum(m));
  return m.opcode == opcode::cvt ? latest(result, first_of_conversion(m)) : result;
}

}  // namespace halfwarp::emulator::ptx
