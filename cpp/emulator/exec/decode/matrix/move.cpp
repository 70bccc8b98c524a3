// SPDX-License-Identifier: Apache-2.0
// Decodes ldmatrix, stmatrix and movmatrix, and the registers of all matrix instructions.
#include "emulator/exec/decode/matrix/matrix.hpp"

#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

using ptx::operand_kind;
using ptx::scalar_type;
using q = ptx::qualifier;

void emit_together(function_decoder& d, handler run, std::uint32_t target) {
  const operand_slot members = d.constant(~std::uint32_t{0}, 32);
  instruction& instr = d.emit(run, flow::collective);
  instr.operand[4] = members;
  instr.target = target;
}

void emit_for_warp(function_decoder& d, handler run, const matrix_site& site) {
  emit_together(d, run, d.add_matrix(site));
}

std::span<const ptx::operand> registers_of(const function_decoder& d, const ptx::operand& o) {
  return o.kind == operand_kind::vector ? d.elements(o) : std::span{&o, 1};
}

std::span<const ptx::operand> require_registers(const function_decoder& d, const ptx::operand& o,
                                                std::size_t count) {
  const auto registers = registers_of(d, o);
  if (registers.size() == count) return registers;
  throw unsupported{"an operand of " + std::to_string(registers.size()) + " registers, " +
                    std::to_string(count) + " are needed"};
}

void require_aligned(const ptx::mnemonic& m) {
  if (!m.has(q::sync) || !m.has(q::aligned)) {
    throw unsupported{"this instruction without .sync.aligned"};
  }
}

std::vector<q> layouts_of(const ptx::mnemonic& m) {
  std::vector<q> layouts;
  for (q word : m.qualifiers()) {
    if (word == q::row || word == q::col) layouts.push_back(word);
  }
  return layouts;
}

namespace {

std::uint8_t matrices_of(const ptx::mnemonic& m) {
  if (m.has(q::x1)) return 1;
  if (m.has(q::x2)) return 2;
  if (m.has(q::x4)) return 4;
  throw unsupported{"this instruction without .x1, .x2 or .x4"};
}

struct move_form {
  q shape;
  scalar_type type, source;  // of the registers, and of memory if it has another type
  byte_layout bytes;
  std::uint8_t narrow_bits, matrices;  // of eight rows, for .x1
};
using enum scalar_type;
constexpr move_form forms[] = {
    {q::m8n8, b16, none, byte_layout::none, 8, 1},
    {q::m8n16, b8x16, b6x16_p32, byte_layout::in_row, 6, 1},
    {q::m8n16, b8x16, b4x16_p64, byte_layout::in_row, 4, 1},
    {q::m16n16, b8, none, byte_layout::in_tall, 8, 2},
    {q::m16n16, b8x16, b6x16_p32, byte_layout::in_tall, 6, 2},
    {q::m16n16, b8x16, b4x16_p64, byte_layout::in_tall, 4, 2},
    {q::m16n8, b8, none, byte_layout::in_pair, 8, 1},
};

void set_form(const ptx::mnemonic& m, matrix_site& site) {
  for (const move_form& each : forms) {
    if (!m.has(each.shape) || m.type(0) != each.type || m.type(1) != each.source) continue;
    site.bytes = each.bytes;
    site.narrow_bits = each.narrow_bits;
    site.matrices = static_cast<std::uint8_t>(each.matrices * matrices_of(m));
    site.is_transposed = m.has(q::trans);
    return;
  }
  throw unsupported{"this shape or type"};
}

// .sync.aligned.m8n8.NUMBER{.trans}{.shared}.b16
matrix_site decode_move(function_decoder& d, bool is_load) {
  const ptx::mnemonic& m = d.spelling();
  require_aligned(m);
  if (m.vector_width > 1) throw unsupported{"a vector with this instruction"};
  matrix_site site;
  set_form(m, site);
  site.address = emit_shared_offset(d, d.operand(is_load), m.space(0));
  const auto list = require_registers(d, d.operand(!is_load), site.matrices);
  for (std::size_t n = 0; n < list.size(); ++n) {
    site.d[n] = is_load ? d.result(list[n], 32) : d.value(list[n], 32);
  }
  return site;
}

}  // namespace

// ldmatrix... {r, ...}, [address]
void decode_ldmatrix(function_decoder& d) {
  emit_for_warp(d, &run_load_matrix, decode_move(d, true));
}

// stmatrix... [address], {r, ...}
void decode_stmatrix(function_decoder& d) {
  emit_for_warp(d, &run_store_matrix, decode_move(d, false));
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a
void decode_movmatrix(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  require_aligned(m);
  const bool is_known = m.has(q::m8n8) && m.has(q::trans) && m.type(0) == scalar_type::b16;
  if (!is_known) throw unsupported{"this shape or type"};
  matrix_site site;
  site.add_source(d.value(d.operand(1), 32));
  site.d[0] = d.result(d.operand(0), 32);
  emit_for_warp(d, &run_transpose_matrix, site);
}

}  // namespace halfwarp::emulator::exec
