// SPDX-License-Identifier: Apache-2.0
// Decodes wgmma.
#include <algorithm>

#include "emulator/exec/decode/matrix/matrix.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/matrix/warpgroup.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::operand_kind;
using ptx::scalar_type;
using q = ptx::qualifier;

constexpr int warpgroup_rows = 16;  // of each warp
constexpr int depth_bytes = 32;     // of a row of A

// The types of a product, and what they allow.
struct warpgroup_form {
  bool is_integer, is_bit, has_transpositions, has_half_result, is_8_bit_float;
};

bool is_one_of(scalar_type type, std::initializer_list<scalar_type> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

warpgroup_form form_of(const ptx::mnemonic& m) {
  const scalar_type d = m.type(0), a = m.type(1), b = m.type(2);
  const auto both = [&](std::initializer_list<scalar_type> types) {
    return is_one_of(a, types) && is_one_of(b, types);
  };
  warpgroup_form form{};
  form.is_bit = both({scalar_type::b1});
  form.is_integer = form.is_bit || both({scalar_type::s8, scalar_type::u8});
  form.is_8_bit_float = both({scalar_type::e4m3, scalar_type::e5m2});
  form.has_transpositions = both({scalar_type::f16}) || both({scalar_type::bf16});
  form.has_half_result = both({scalar_type::f16}) || form.is_8_bit_float;
  const bool has_types = form.is_integer || form.is_8_bit_float || form.has_transpositions ||
                         both({scalar_type::tf32});
  const bool has_result =
      form.is_integer ? d == scalar_type::s32
                      : d == scalar_type::f32 || (d == scalar_type::f16 && form.has_half_result);
  if (!has_types || !has_result) throw unsupported{"wgmma of these types"};
  return form;
}

// Integers allow fewer columns.
bool has_columns(const warpgroup_form& form, int columns) {
  if (columns < 8 || columns > 256 || columns % 8) return false;
  return !form.is_integer || columns == 8 || columns == 24 || columns % 16 == 0;
}

void require_words(const ptx::mnemonic& m, const warpgroup_form& form) {
  require_aligned(m);
  const bool may_saturate = form.is_integer && !form.is_bit;
  if (m.has(q::satfinite) && !may_saturate) throw unsupported{".satfinite with these types"};
  if (m.has(q::popc) != form.is_bit || m.has(q::and_) != form.is_bit) {
    throw unsupported{"wgmma of bits needs .and.popc, and no other wgmma has it"};
  }
  if (m.has(q::sp) && form.is_bit) throw unsupported{".sp with these types"};
  const int depth = 8 * depth_bytes / bits_of(m.type(1)) * (m.has(q::sp) ? 2 : 1);
  if (m.depth != depth || !has_columns(form, m.columns)) throw unsupported{"this shape of wgmma"};
}

// Returns true for the literal `other`, false for `usual`.
bool choice_of(const ptx::operand& o, std::int64_t usual, std::int64_t other) {
  const bool fits = o.kind == operand_kind::integer && (o.value == usual || o.value == other);
  if (!fits) throw unsupported{"an operand that is not one of two constants"};
  return o.value == other;
}

void set_accumulators(function_decoder& d, matrix_site& site) {
  const bool is_half = site.d_type == scalar_type::f16;
  const auto count = static_cast<std::size_t>(site.columns) / (is_half ? 4 : 2);
  for (const ptx::operand& o : require_registers(d, d.operand(0), count)) {
    if (o.kind != operand_kind::register_ || d.register_bits(o) != 32) {
      throw unsupported{"an accumulator that is not a register of 32 bits"};
    }
    site.accumulators.push_back(d.result(o, 32));
  }
  site.c_count = site.d_count = is_half ? 2 : 4;
}

void set_a(function_decoder& d, matrix_site& site) {
  const ptx::operand& a = d.operand(1);
  site.has_a_descriptor = a.kind != operand_kind::vector;
  if (site.has_a_descriptor) {
    site.a_descriptor = d.value(a, 64);
    return;
  }
  for (const ptx::operand& o : require_registers(d, a, 4)) site.add_source(d.value(o, 32));
}

// Sets the operands after B: {metadata, selector,} scale-d {, scales {, transpositions}}
void set_remaining(function_decoder& d, matrix_site& site, const warpgroup_form& form) {
  std::size_t next = 3;
  if (site.is_sparse) {
    const bool has_two = site.width >= 16;
    site.add_source(d.value(d.operand(next), 32));
    site.selector = choice_of(d.operand(next + 1), 0, has_two ? 1 : 0) && has_two;
    next += 2;
  }
  site.adds_c = d.predicate_value(d.operand(next++));
  if (!form.is_integer) {
    site.negates_a = choice_of(d.operand(next++), 1, -1);
    site.negates_b = choice_of(d.operand(next++), 1, -1);
  }
  if (form.has_transpositions) {
    if (site.has_a_descriptor) site.transposes_a = choice_of(d.operand(next++), 0, 1);
    site.transposes_b = choice_of(d.operand(next++), 0, 1);
  }
  if (d.operands().size() != next) throw unsupported{"number of operands"};
}

void emit_warpgroup_product(function_decoder& d, const matrix_site& site,
                            const warpgroup_form& form) {
  const bool is_general = site.is_sparse || form.is_bit;
  const char* const name = form.is_integer ? "wgmma.integer" : "wgmma.float";
  emit_for_warp(d, is_general ? &run_warpgroup_product : find_handler(name), site);
}

// wgmma.mma_async{.sp}.sync.aligned.SHAPE.DTYPE.ATYPE.BTYPE d, a, b, ...
void decode_product(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  const warpgroup_form form = form_of(m);
  require_words(m, form);
  matrix_site site =
      make_product({m.type(0), m.type(1), m.type(2), m.type(0)}, warpgroup_rows, m.depth);
  site.columns = m.columns;
  site.is_sparse = m.has(q::sp);
  site.is_saturating = m.has(q::satfinite);
  if (form.is_bit) site.bits = bit_product::and_popc;
  if (form.is_8_bit_float) site.fraction_bits = site.result_fraction_bits = 13;
  site.b_count = static_cast<std::uint8_t>(site.depth * site.width / 128);
  set_accumulators(d, site);
  set_a(d, site);
  site.b_descriptor = d.value(d.operand(2), 64);
  set_remaining(d, site, form);
  emit_warpgroup_product(d, site, form);
}

}  // namespace

// A fence orders registers and products, which the emulator keeps in the order of the text.
void decode_wgmma(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  if (m.has(q::mma_async)) return decode_product(d);
  require_aligned(m);
  if (m.has(q::fence)) return emit_for_warp(d, &run_whole_warp, {});
  if (m.has(q::commit_group)) return emit_for_warp(d, &run_commit_products, {});
  const ptx::operand& groups = d.operand(0);
  if (groups.kind != operand_kind::integer || groups.value < 0) {
    throw unsupported{"a number of groups that is not a constant"};
  }
  emit_for_warp(d, &run_wait_products, {});
  d.last().immediate = groups.value;
}

}  // namespace halfwarp::emulator::exec
