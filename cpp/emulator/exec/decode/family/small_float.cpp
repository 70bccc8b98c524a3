// SPDX-License-Identifier: Apache-2.0
// Decodes cvt from and to tf32, fp8, fp6, fp4, ue8m0 and s2f6, and cvt.pack.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/exec/scalar/scalar.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::qualifier;
using ptx::scalar_type;

std::optional<small_format> small_format_of(scalar_type type) {
  constexpr std::pair<scalar_type, small_format> formats[] = {
      {scalar_type::e4m3x2, small_format::e4m3}, {scalar_type::e5m2x2, small_format::e5m2},
      {scalar_type::e2m3x2, small_format::e2m3}, {scalar_type::e3m2x2, small_format::e3m2},
      {scalar_type::e2m1x2, small_format::e2m1}, {scalar_type::ue8m0x2, small_format::ue8m0},
      {scalar_type::s2f6x2, small_format::s2f6},
  };
  for (auto [name, format] : formats) {
    if (name == type) return format;
  }
  return std::nullopt;
}

[[noreturn]] void refuse() { throw unsupported{"this form of cvt"}; }

// Requires the first words, and allows the optional ones.
void require_words(const ptx::mnemonic& m, std::initializer_list<qualifier> words,
                   std::initializer_list<qualifier> optional = {}) {
  for (qualifier word : words) {
    if (!m.has(word)) refuse();
  }
  for (qualifier each : m.qualifiers()) {
    if (std::ranges::find(words, each) == words.end() &&
        std::ranges::find(optional, each) == optional.end()) {
      refuse();
    }
  }
}

void require_operands(const function_decoder& d, std::size_t count) {
  if (d.operands().size() != count) throw unsupported{"number of operands"};
}

pair_type pair_type_of(scalar_type type) {
  if (type == scalar_type::f16x2) return pair_type::f16;
  if (type == scalar_type::bf16x2) return pair_type::bf16;
  if (type != scalar_type::f32) refuse();
  return pair_type::f32;
}

// Returns the slot of two scales of one, or of the operand with the scales.
operand_slot scales_of(function_decoder& d, std::size_t operand) {
  const bool is_scaled = d.spelling().has(qualifier::scaled_n2_ue8m0);
  require_operands(d, operand + is_scaled);
  return is_scaled ? d.value(d.operand(operand), 16) : d.constant(0x7f7f, 16);
}

void emit_pair(function_decoder& d, handler run, small_format format, pair_type pair,
               std::array<operand_slot, 5> operands) {
  instruction& instr = d.emit(run, flow::next);
  instr.operand = operands;
  instr.immediate = static_cast<std::int64_t>(format);
  instr.target = static_cast<std::uint32_t>(pair);
  instr.flags = float_flags(d.spelling());
}

void decode_to_small(function_decoder& d, small_format format, scalar_type from) {
  using q = qualifier;
  const ptx::mnemonic& m = d.spelling();
  const pair_type pair = pair_type_of(from);
  const bool is_exponent = format == small_format::ue8m0, is_fixed = format == small_format::s2f6;
  if (is_exponent) {
    require_words(m, {m.has(q::rp) ? q::rp : q::rz}, {q::satfinite});
  } else if (is_fixed) {
    require_words(m, {q::rn, q::satfinite}, {q::relu, q::scaled_n2_ue8m0});
  } else {
    require_words(m, {q::rn, q::satfinite}, {q::relu});
  }
  if (pair == pair_type::f16 && (is_exponent || is_fixed)) refuse();
  const bool has_two = pair == pair_type::f32;
  const operand_slot scales = scales_of(d, has_two ? 3 : 2);
  const operand_slot high = d.value(d.operand(1), 32, has_two ? from : scalar_type::b32);
  const operand_slot low = has_two ? d.value(d.operand(2), 32, from) : high;
  const operand_slot to = d.result(d.operand(0), bits_of(m.type(0)));
  emit_pair(d, &run_small_from_pair, format, pair, {to, high, low, scales});
}

void decode_from_small(function_decoder& d, small_format format, scalar_type to) {
  using q = qualifier;
  const ptx::mnemonic& m = d.spelling();
  const pair_type pair = pair_type_of(to);
  const bool is_exponent = format == small_format::ue8m0, is_fixed = format == small_format::s2f6;
  if (is_exponent) {
    require_words(m, {q::rn});
  } else if (pair == pair_type::bf16) {
    require_words(m, {q::rn}, {q::relu, q::satfinite, q::scaled_n2_ue8m0});
  } else {
    require_words(m, {q::rn}, {q::relu});
  }
  if (pair == pair_type::f32 || (pair == pair_type::f16 && (is_exponent || is_fixed))) refuse();
  const operand_slot scales = scales_of(d, 2);
  const operand_slot source = d.value(d.operand(1), bits_of(m.type(1)));
  const operand_slot result = d.result(d.operand(0), 32);
  emit_pair(d, &run_pair_from_small, format, pair, {result, source, scales});
}

void decode_to_tf32(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  const bool is_away = m.has(qualifier::rna), is_zero = m.has(qualifier::rz);
  if (m.type(1) != scalar_type::f32) refuse();
  const qualifier rounding = is_away ? qualifier::rna : is_zero ? qualifier::rz : qualifier::rn;
  require_words(m, {rounding}, {qualifier::satfinite, is_away ? rounding : qualifier::relu});
  require_operands(d, 2);
  const operand_slot from = d.value(d.operand(1), 32, scalar_type::f32);
  const operand_slot to = d.result(d.operand(0), 32);
  instruction& instr = d.emit(&run_tf32, flow::next);
  instr.operand = {to, from, 0, 0, 0};
  instr.immediate = static_cast<std::int64_t>(is_away   ? tf32_rounding::to_nearest_away
                                              : is_zero ? tf32_rounding::to_zero
                                                        : tf32_rounding::to_nearest_even);
  instr.flags = float_flags(m);
}

// cvt.pack.sat.{u16,s16}.s32 d, a, b; cvt.pack.sat.{u8,s8,u4,s4,u2,s2}.s32.b32 d, a, b, c
void decode_pack(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  constexpr scalar_type results[] = {scalar_type::u2,  scalar_type::s2, scalar_type::u4,
                                     scalar_type::s4,  scalar_type::u8, scalar_type::s8,
                                     scalar_type::u16, scalar_type::s16};
  const int width = bits_of(m.type(0));
  const bool is_known = std::ranges::find(results, m.type(0)) != std::end(results);
  const bool has_upper = width < 16;
  if (!is_known || m.type(1) != scalar_type::s32 || m.type_count != (has_upper ? 3 : 2)) refuse();
  if (has_upper && m.type(2) != scalar_type::b32) refuse();
  require_words(m, {qualifier::pack, qualifier::sat});
  require_operands(d, has_upper ? 4 : 3);
  const operand_slot a = d.value(d.operand(1), 32), b = d.value(d.operand(2), 32);
  const operand_slot c = has_upper ? d.value(d.operand(3), 32) : b;
  const operand_slot to = d.result(d.operand(0), 32);
  instruction& instr = d.emit(&run_pack, flow::next);
  instr.operand = {to, a, b, c, 0};
  instr.immediate = width;
  instr.flags = ptx::is_signed(m.type(0));
}

// cvt.rs{.relu}{.satfinite}.{f16x2,bf16x2}.f32 d, a, b, random
// cvt.rs{.relu}.satfinite.FORMATx4.f32 d, {a, b, e, f}, random
void decode_stochastic(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  constexpr std::pair<scalar_type, small_format> formats[] = {
      {scalar_type::f16x2, small_format::f16},   {scalar_type::bf16x2, small_format::bf16},
      {scalar_type::e4m3x4, small_format::e4m3}, {scalar_type::e5m2x4, small_format::e5m2},
      {scalar_type::e2m3x4, small_format::e2m3}, {scalar_type::e3m2x4, small_format::e3m2},
      {scalar_type::e2m1x4, small_format::e2m1},
  };
  const auto* const entry =
      std::ranges::find_if(formats, [&](const auto& each) { return each.first == m.type(0); });
  if (entry == std::end(formats) || m.type(1) != scalar_type::f32) refuse();
  const bool is_pair = entry < std::begin(formats) + 2;
  if (!is_pair && !m.has(qualifier::satfinite)) refuse();
  require_operands(d, is_pair ? 4 : 3);
  const auto sources = is_pair ? d.operands().subspan(1, 2) : d.elements(d.operand(1));
  if (sources.size() != (is_pair ? 2u : 4u)) throw unsupported{"vector of another length"};
  std::array<operand_slot, 4> slots{};
  for (std::size_t n = 0; n < sources.size(); ++n) {
    slots[n] = d.value(sources[n], 32, scalar_type::f32);
  }
  const operand_slot random = d.value(d.operand(is_pair ? 3 : 2), 32);
  const operand_slot to = d.result(d.operand(0), bits_of(m.type(0)));
  instruction& instr = d.emit(&run_stochastic, flow::next);
  instr.operand = {to, random, slots[0], slots[1], slots[2]};
  instr.target = static_cast<std::uint32_t>(slots[3]);
  instr.immediate = static_cast<std::int64_t>(entry->second);
  instr.flags = float_flags(m);
}

}  // namespace

bool decode_small_float(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  const scalar_type to = m.type(0), from = m.type(1);
  if (m.has(qualifier::pack)) {
    decode_pack(d);
  } else if (m.has(qualifier::rs)) {
    decode_stochastic(d);
  } else if (to == scalar_type::tf32) {
    decode_to_tf32(d);
  } else if (const auto format = small_format_of(to)) {
    decode_to_small(d, *format, from);
  } else if (const auto source = small_format_of(from)) {
    decode_from_small(d, *source, to);
  } else {
    return false;
  }
  return true;
}

}  // namespace halfwarp::emulator::exec
