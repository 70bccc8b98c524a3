// SPDX-License-Identifier: Apache-2.0
// Decodes mma: dense, sparse and with block scales.
#include <algorithm>

#include "emulator/exec/decode/matrix/matrix.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/matrix/product.hpp"
#include "emulator/exec/warp.hpp"
#include "emulator/ptx/matrix_forms.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::element_family;
using ptx::matrix_family;
using ptx::matrix_shape;
using ptx::operand_kind;
using ptx::scalar_type;
using q = ptx::qualifier;

const matrix_shape& shape_of(const ptx::mnemonic& m) {
  if (const matrix_shape* shape = ptx::find_shape(m)) return *shape;
  throw unsupported{"mma without a shape"};
}

const matrix_family& family_for(const ptx::mnemonic& m) {
  if (const matrix_family* family = ptx::find_family(m)) return *family;
  throw unsupported{"mma of this shape and these types"};
}

// Checks the words that some families need and the others must not have.
void require_words(const ptx::mnemonic& m, const matrix_family& family) {
  require_aligned(m);
  const bool is_integer = family.of == element_family::byte || family.of == element_family::nibble;
  const bool is_bit = family.of == element_family::bit;
  if (layouts_of(m) != std::vector{q::row, q::col}) throw unsupported{"mma without .row.col"};
  if (m.has(q::satfinite) && !is_integer) throw unsupported{".satfinite with these types"};
  if (m.has(q::popc) != is_bit || (m.has(q::xor_) || m.has(q::and_)) != is_bit) {
    throw unsupported{"mma of bits needs .xor.popc or .and.popc, and no other mma has them"};
  }
}

bool is_accumulator_of_half(scalar_type type) {
  return type == scalar_type::f16 || type == scalar_type::f32;
}

std::uint64_t literal_of(const ptx::operand& o, std::uint64_t limit) {
  const bool fits = o.kind == operand_kind::integer && static_cast<std::uint64_t>(o.value) < limit;
  if (!fits) throw unsupported{"a selector that is not a small constant"};
  return static_cast<std::uint64_t>(o.value);
}

// Sets metadata and selector, the operands `first` and the next.
void set_metadata(function_decoder& d, matrix_site& site, std::size_t first) {
  const int stored = site.width == 4 ? 4 : site.width == 32 ? 1 : 2;
  const int nibbles = site.a_depth() / stored;
  const std::uint64_t selectors = nibbles == 4 ? 4 : nibbles == 8 ? 2 : 1;
  site.add_source(d.value(d.operand(first), 32));
  site.selector = static_cast<std::uint8_t>(literal_of(d.operand(first + 1), selectors));
}

// The allowed scales of a kind.
struct scale_rule {
  q kind, word;
  std::uint8_t vector;
  bool has_ue4m3;
};
constexpr scale_rule scale_rules[] = {
    {q::kind_mxf8f6f4, q::scale_vec_1X, 1, false},
    {q::kind_mxf4, q::scale_vec_2X, 2, false},
    {q::kind_mxf4nvf4, q::scale_vec_2X, 2, false},
    {q::kind_mxf4nvf4, q::scale_vec_4X, 4, true},
};

// Returns the scales that the words name. Without .scale_vec, a kind with one size has this size.
scale_site scales_of(const ptx::mnemonic& m, q kind) {
  const bool is_named = m.has(q::scale_vec_1X) || m.has(q::scale_vec_2X) || m.has(q::scale_vec_4X);
  for (const scale_rule& rule : scale_rules) {
    const bool is_implied = !is_named && kind != q::kind_mxf4nvf4;
    if (rule.kind != kind || !(m.has(rule.word) || is_implied)) continue;
    const scalar_type type = m.type(4);
    const bool fits = type == scalar_type::ue8m0 || (type == scalar_type::ue4m3 && rule.has_ue4m3);
    if (!fits) break;
    scale_site scales;
    scales.vector = rule.vector;
    scales.type = type;
    return scales;
  }
  throw unsupported{"scales of this size and type"};
}

// Sets a scale register and its {byte, thread}, the operands `first` and the next.
void set_scale(function_decoder& d, matrix_site& site, std::size_t first, std::uint64_t threads,
               std::uint8_t& byte, std::uint8_t& thread) {
  const auto ids = require_registers(d, d.operand(first + 1), 2);
  site.add_source(d.value(d.operand(first), 32));
  byte = static_cast<std::uint8_t>(literal_of(ids[0], 4));
  thread = static_cast<std::uint8_t>(literal_of(ids[1], threads));
  if (byte % site.scales.vector) throw unsupported{"a byte of this number with these scales"};
}

std::vector<operand_slot> slots_of(function_decoder& d, std::size_t n, int bits, bool is_result) {
  std::vector<operand_slot> slots;
  for (const ptx::operand& o : registers_of(d, d.operand(n))) {
    slots.push_back(is_result ? d.result(o, bits) : d.value(o, bits));
  }
  return slots;
}

// Returns the name of the handler that is faster than the general one, or null.
const char* handler_name(const matrix_site& site) {
  if (site.d_type == scalar_type::f64) return "mma.f64";
  const bool is_tiny = ptx::family_of(site.a_type) == element_family::tiny_float ||
                       ptx::family_of(site.b_type) == element_family::tiny_float;
  if (site.is_sparse || site.scales.vector || is_tiny || site.bits != bit_product::none) {
    return nullptr;
  }
  return site.d_type == scalar_type::s32 ? "mma.integer" : "mma.float";
}

}  // namespace

int product_register_bits(const matrix_site& site) {
  return site.d_type == scalar_type::f64 ? 64 : 32;
}

matrix_site make_product(const product_types& types, int rows, int depth) {
  matrix_site site;
  site.a_type = types.a;
  site.b_type = types.b;
  site.c_type = types.c;
  site.d_type = types.d;
  site.rows = static_cast<std::uint8_t>(rows);
  site.depth = static_cast<std::uint16_t>(depth);
  site.width = static_cast<std::uint8_t>(bits_of(types.a));
  return site;
}

void set_registers(matrix_site& site, const product_slots& slots) {
  const int bits = product_register_bits(site) * warp_size;
  const auto count = [&](int elements, int width) {
    return static_cast<std::size_t>(elements * width / bits);
  };
  const bool fits = slots.a.size() == count(site.rows * site.a_depth(), site.width) &&
                    slots.b.size() == count(product_columns * site.depth, site.width) &&
                    slots.c.size() == count(site.rows * product_columns, bits_of(site.c_type)) &&
                    slots.d.size() == count(site.rows * product_columns, bits_of(site.d_type));
  if (!fits) throw unsupported{"a matrix with this number of registers"};
  site.a_count = static_cast<std::uint8_t>(slots.a.size());
  site.b_count = static_cast<std::uint8_t>(slots.b.size());
  site.c_count = static_cast<std::uint8_t>(slots.c.size());
  site.d_count = static_cast<std::uint8_t>(slots.d.size());
  for (const auto* matrix : {&slots.a, &slots.b, &slots.c}) {
    for (operand_slot slot : *matrix) site.add_source(slot);
  }
  std::copy(slots.d.begin(), slots.d.end(), site.d.begin());
}

void emit_product(function_decoder& d, const matrix_site& site) {
  const char* const name = handler_name(site);
  emit_for_warp(d, name ? find_handler(name) : &run_product, site);
}

namespace {

// mma.sync.aligned.m8n8k4.ALAYOUT.BLAYOUT.DTYPE.f16.f16.CTYPE d, a, b, c
void decode_quad_product(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  require_aligned(m);
  const scalar_type d_type = m.type(0), c_type = m.type(3);
  const bool has_types = is_accumulator_of_half(d_type) && is_accumulator_of_half(c_type) &&
                         m.type(2) == scalar_type::f16 &&
                         (c_type == scalar_type::f16 || d_type == scalar_type::f32);
  const auto layouts = layouts_of(m);
  if (!has_types || layouts.size() != 2 || d.operands().size() != 4 || m.has(q::satfinite)) {
    throw unsupported{"mma of this shape and these types"};
  }
  matrix_site site = make_product({d_type, m.type(1), m.type(2), c_type}, 8, 4);
  site.transposes_a = layouts[0] == q::col;
  site.transposes_b = layouts[1] == q::row;
  const auto count = [](scalar_type type) { return type == scalar_type::f16 ? 4u : 8u; };
  const std::size_t counts[] = {2, 2, count(c_type)};
  for (std::size_t n = 0; n < 3; ++n) {
    for (const ptx::operand& o : require_registers(d, d.operand(n + 1), counts[n])) {
      site.add_source(d.value(o, 32));
    }
  }
  for (const ptx::operand& o : require_registers(d, d.operand(0), count(d_type))) {
    site.accumulators.push_back(d.result(o, 32));
  }
  emit_for_warp(d, &run_quad_product, site);
}

}  // namespace

// mma{.sp}.sync.aligned.SHAPE.row.col.DTYPE.ATYPE.BTYPE.CTYPE d, a, b, c{, metadata, selector}
// {, scales of A, {byte, thread}, scales of B, {byte, thread}}
void decode_mma(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (m.has(q::m8n8k4) && m.type(1) == scalar_type::f16) return decode_quad_product(d);
  const matrix_shape& shape = shape_of(m);
  const matrix_family& family = family_for(m);
  require_words(m, family);
  matrix_site site =
      make_product({m.type(0), m.type(1), m.type(2), m.type(3)}, shape.rows, shape.depth);
  const bool is_packed = family.kind == q::kind_mxf4 || family.kind == q::kind_mxf4nvf4;
  if (family.kind != q::unknown) site.width = is_packed ? 4 : 8;
  if (family.of == element_family::small_float) site.sums = addition::two_steps;
  site.is_sparse = ptx::is_sparse(m);
  site.is_saturating = m.has(q::satfinite);
  if (family.of == element_family::bit) {
    site.bits = m.has(q::and_) ? bit_product::and_popc : bit_product::xor_popc;
  }
  const bool has_scales = family.kind != q::unknown && family.kind != q::kind_f8f6f4;
  if (has_scales != m.has(q::block_scale)) throw unsupported{".block_scale with this kind"};
  if (has_scales) site.scales = scales_of(m, family.kind);
  const int bits = product_register_bits(site);
  set_registers(site, {slots_of(d, 1, bits, false), slots_of(d, 2, bits, false),
                       slots_of(d, 3, bits, false), slots_of(d, 0, bits, true)});
  std::size_t next = 4;
  if (site.is_sparse) {
    set_metadata(d, site, next);
    next += 2;
  }
  if (has_scales) {
    set_scale(d, site, next, 2, site.scales.byte_a, site.scales.thread_a);
    set_scale(d, site, next + 2, 4, site.scales.byte_b, site.scales.thread_b);
    next += 4;
  }
  if (d.operands().size() != next) throw unsupported{"number of operands"};
  emit_product(d, site);
}

}  // namespace halfwarp::emulator::exec
