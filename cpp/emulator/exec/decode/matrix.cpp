// SPDX-License-Identifier: Apache-2.0
// Decodes mma, ldmatrix, stmatrix and movmatrix.
#include <algorithm>
#include <utility>

#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::operand_kind;
using ptx::qualifier;
using ptx::scalar_type;

// All lanes of the warp execute the instruction together.
void emit_for_warp(function_decoder& d, handler run, const matrix_site& site) {
  const operand_slot members = d.constant(~std::uint32_t{0}, 32);
  const std::uint32_t index = d.add_matrix(site);
  instruction& instr = d.emit(run, flow::collective);
  instr.operand[4] = members;
  instr.target = index;
}

std::span<const ptx::operand> registers_of(const function_decoder& d, const ptx::operand& o) {
  return o.kind == operand_kind::vector ? d.elements(o) : std::span{&o, 1};
}

template <std::size_t n>
void set_slots(function_decoder& d, const ptx::operand& o, std::size_t count, int bits,
               bool is_result, std::array<operand_slot, n>& slots) {
  const auto registers = registers_of(d, o);
  if (registers.size() != count) {
    throw unsupported{"an operand of " + std::to_string(registers.size()) + " registers, " +
                      std::to_string(count) + " are needed"};
  }
  for (std::size_t i = 0; i < count; ++i) {
    slots[i] = is_result ? d.result(registers[i], bits) : d.value(registers[i], bits);
  }
}

void require_aligned(const ptx::mnemonic& m) {
  if (!m.has(qualifier::sync) || !m.has(qualifier::aligned)) {
    throw unsupported{"this instruction without .sync.aligned"};
  }
}

// ---- mma

struct shape_entry {
  qualifier word;
  std::uint8_t rows;
  std::uint16_t depth;
};
constexpr shape_entry shapes[] = {
    {qualifier::m8n8k4, 8, 4},       {qualifier::m8n8k16, 8, 16},     {qualifier::m8n8k32, 8, 32},
    {qualifier::m8n8k128, 8, 128},   {qualifier::m16n8k4, 16, 4},     {qualifier::m16n8k8, 16, 8},
    {qualifier::m16n8k16, 16, 16},   {qualifier::m16n8k32, 16, 32},   {qualifier::m16n8k64, 16, 64},
    {qualifier::m16n8k128, 16, 128}, {qualifier::m16n8k256, 16, 256},
};

// The types that mma multiplies, and the shapes of each.
enum class family { none, half, bfloat, tf32, small_float, f64, byte, nibble, bit };

family family_of(scalar_type type) {
  switch (type) {
    case scalar_type::f16:
      return family::half;
    case scalar_type::bf16:
      return family::bfloat;
    case scalar_type::tf32:
      return family::tf32;
    case scalar_type::e4m3:
    case scalar_type::e5m2:
      return family::small_float;
    case scalar_type::f64:
      return family::f64;
    case scalar_type::s8:
    case scalar_type::u8:
      return family::byte;
    case scalar_type::s4:
    case scalar_type::u4:
      return family::nibble;
    case scalar_type::b1:
      return family::bit;
    default:
      return family::none;
  }
}

struct family_entry {
  family of;
  int bits;
  const char* handler_name;
  std::initializer_list<qualifier> shapes;
  std::initializer_list<scalar_type> accumulators;
};
using q = qualifier;
const family_entry families[] = {
    {family::half,
     16,
     "mma.float",
     {q::m16n8k8, q::m16n8k16},
     {scalar_type::f16, scalar_type::f32}},
    {family::bfloat, 16, "mma.float", {q::m16n8k8, q::m16n8k16}, {scalar_type::f32}},
    {family::tf32, 32, "mma.float", {q::m16n8k4, q::m16n8k8}, {scalar_type::f32}},
    {family::small_float,
     8,
     "mma.small_float",
     {q::m16n8k16, q::m16n8k32},
     {scalar_type::f16, scalar_type::f32}},
    {family::f64,
     64,
     "mma.f64",
     {q::m8n8k4, q::m16n8k4, q::m16n8k8, q::m16n8k16},
     {scalar_type::f64}},
    {family::byte, 8, "mma.integer", {q::m8n8k16, q::m16n8k16, q::m16n8k32}, {scalar_type::s32}},
    {family::nibble, 4, "mma.integer", {q::m8n8k32, q::m16n8k32, q::m16n8k64}, {scalar_type::s32}},
    {family::bit, 1, "mma.b1", {q::m8n8k128, q::m16n8k128, q::m16n8k256}, {scalar_type::s32}},
};

template <class T>
bool contains(std::initializer_list<T> list, T value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

const family_entry& family_for(const ptx::mnemonic& m, qualifier shape) {
  for (const family_entry& each : families) {
    if (each.of != family_of(m.type(1))) continue;
    const bool fits = family_of(m.type(2)) == each.of && contains(each.shapes, shape) &&
                      contains(each.accumulators, m.type(0)) && m.type(0) == m.type(3);
    if (!fits) break;
    return each;
  }
  throw unsupported{"mma of this shape and these types"};
}

const shape_entry& shape_of(const ptx::mnemonic& m) {
  for (const shape_entry& each : shapes) {
    if (m.has(each.word)) return each;
  }
  throw unsupported{"mma without a shape"};
}

// Checks the words that some families need and the others must not have.
void require_words(const ptx::mnemonic& m, const family_entry& family) {
  require_aligned(m);
  const bool is_integer = family.of == family::byte || family.of == family::nibble;
  const bool is_bit = family.of == family::bit;
  if (!m.has(q::row) || !m.has(q::col)) throw unsupported{"mma without .row.col"};
  if (m.has(q::satfinite) && !is_integer) throw unsupported{".satfinite with these types"};
  if (m.has(q::popc) != is_bit || (m.has(q::xor_) || m.has(q::and_)) != is_bit) {
    throw unsupported{"mma of bits needs .xor.popc or .and.popc, and no other mma has them"};
  }
}

}  // namespace

// mma.sync.aligned.SHAPE.row.col.DTYPE.ATYPE.BTYPE.CTYPE d, a, b, c
void decode_mma(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  const shape_entry& shape = shape_of(m);
  const family_entry& family = family_for(m, shape.word);
  require_words(m, family);
  matrix_site site;
  site.a_type = m.type(1);
  site.b_type = m.type(2);
  site.c_type = m.type(0);
  site.rows = shape.rows;
  site.depth = shape.depth;
  site.is_saturating = m.has(q::satfinite);
  if (family.of == family::bit) {
    site.bits = m.has(q::and_) ? bit_product::and_popc : bit_product::xor_popc;
  }
  const int register_bits = family.of == family::f64 ? 64 : 32;
  const int bits_per_register = register_bits * warp_size, columns = 8;
  site.a_count =
      static_cast<std::uint8_t>(shape.rows * shape.depth * family.bits / bits_per_register);
  site.b_count = static_cast<std::uint8_t>(columns * shape.depth * family.bits / bits_per_register);
  site.c_count =
      static_cast<std::uint8_t>(shape.rows * columns * bits_of(site.c_type) / bits_per_register);
  set_slots(d, d.operand(1), site.a_count, register_bits, false, site.a);
  set_slots(d, d.operand(2), site.b_count, register_bits, false, site.b);
  set_slots(d, d.operand(3), site.c_count, register_bits, false, site.c);
  set_slots(d, d.operand(0), site.c_count, register_bits, true, site.d);
  emit_for_warp(d, find_handler(family.handler_name), site);
}

namespace {

std::uint8_t matrices_of(const ptx::mnemonic& m) {
  if (m.has(q::x1)) return 1;
  if (m.has(q::x2)) return 2;
  if (m.has(q::x4)) return 4;
  throw unsupported{"this instruction without .x1, .x2 or .x4"};
}

// .sync.aligned.m8n8.NUMBER{.trans}{.shared}.b16
matrix_site decode_move(function_decoder& d, std::size_t address, std::size_t registers,
                        bool is_result) {
  const ptx::mnemonic& m = d.spelling();
  require_aligned(m);
  if (!m.has(q::m8n8) || m.type(0) != scalar_type::b16) throw unsupported{"this shape or type"};
  if (m.vector_width > 1) throw unsupported{"a vector with this instruction"};
  matrix_site site;
  site.matrices = matrices_of(m);
  site.is_transposed = m.has(q::trans);
  site.address = emit_shared_offset(d, d.operand(address), m.space(0));
  set_slots(d, d.operand(registers), site.matrices, 32, is_result, site.d);
  return site;
}

}  // namespace

// ldmatrix... {r, ...}, [address]
void decode_ldmatrix(function_decoder& d) {
  emit_for_warp(d, &run_load_matrix, decode_move(d, 1, 0, true));
}

// stmatrix... [address], {r, ...}
void decode_stmatrix(function_decoder& d) {
  emit_for_warp(d, &run_store_matrix, decode_move(d, 0, 1, false));
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a
void decode_movmatrix(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  require_aligned(m);
  const bool is_known = m.has(q::m8n8) && m.has(q::trans) && m.type(0) == scalar_type::b16;
  if (!is_known) throw unsupported{"this shape or type"};
  matrix_site site;
  site.a[0] = d.value(d.operand(1), 32);
  site.d[0] = d.result(d.operand(0), 32);
  emit_for_warp(d, &run_transpose_matrix, site);
}

}  // namespace halfwarp::emulator::exec
