// SPDX-License-Identifier: Apache-2.0
// The types and words of accesses to memory, of products of matrices, votes and barriers.
#include "emulator/ptx/verification/access_rules.hpp"

#include <algorithm>
#include <iterator>

#include "emulator/ptx/matrix_forms.hpp"
#include "emulator/ptx/type_set.hpp"
#include "emulator/ptx/verification/form_rules.hpp"
#include "emulator/ptx/word_sets.hpp"

namespace halfwarp::emulator::ptx {
namespace {

using q = qualifier;
using enum scalar_type;

constexpr auto any_form = q::unknown;
constexpr type_set small_floats{e4m3, e5m2, e4m3x2, e5m2x2, e4m3x4, e5m2x4};
constexpr type_set memory = integers | type_set{b8, u8, s8, b16, b32, b64, b128, f32, f64};

const char* integer_problem(const mnemonic& word) {
  return word.has(q::abs) || word.has(q::NaN) ? "has .abs and .NaN for .f32 alone" : "";
}

// Checks a load of tensor memory that also computes a minimum or a maximum.
std::string extreme_problem(const mnemonic& word) {
  constexpr type_set whole{u32, s32};
  if (word.type() == f32) return {};
  return whole.has(word.type()) ? integer_problem(word) : no_type(word.type());
}

std::string redux_problem(const module& m, const mnemonic& word) {
  if (word.type() != f32) return integer_problem(word);
  if (!word.has(q::min) && !word.has(q::max)) return "has only .min and .max for .f32";
  const bool is_specific = m.target.ends_with('a') || m.target.ends_with('f');
  const bool is_known = is_specific && m.target_architecture() >= 100 &&
                        m.target_architecture() < 110 && m.target_architecture() != 101;
  return is_known ? "" : "has no type '.f32' on " + std::string{m.target};
}

// The types of operations on memory. The first rule of the form and the operation applies.
struct reduction_rule {
  opcode name;  // atom: red too
  q form;       // unknown: every form
  words operations;
  type_set types, types_of_noftz = {};
};
constexpr type_set words_of_32{u32, s32};
constexpr words extremes{q::min, q::max}, steps{q::inc, q::dec}, bitwise{q::and_, q::or_, q::xor_};
constexpr reduction_rule reduction_rules[] = {
    {opcode::red, q::async, {q::add}, {u32, s32, u64, s64}},
    {opcode::red, q::async, extremes, words_of_32},
    {opcode::red, q::async, steps, {u32}},
    {opcode::red, q::async, bitwise, {b32}},
    {opcode::cp, q::mbarrier_complete_tx_bytes, {q::add}, {u32, s32, u64}},
    {opcode::cp, q::mbarrier_complete_tx_bytes, extremes, words_of_32},
    {opcode::cp, q::mbarrier_complete_tx_bytes, steps, {u32}},
    {opcode::cp, q::mbarrier_complete_tx_bytes, bitwise, {b32}},
    {opcode::cp, q::reduce, {q::add}, {u32, s32, u64, f32, f64}, {f16, bf16}},
    {opcode::cp, q::reduce, extremes, {u32, s32, u64, s64, f16, bf16}},
    {opcode::cp, q::reduce, steps, {u32}},
    {opcode::cp, q::reduce, bitwise, {b32, b64}},
    {opcode::multimem, q::cp, {q::add}, {u32, s32, u64, f32, f64}, {f16, bf16}},
    {opcode::multimem, q::cp, extremes, {u32, s32, u64, s64, f16, bf16}},
    {opcode::multimem, q::cp, steps, {u32}},
    {opcode::multimem, q::acc_f32, {q::add}, halves | small_floats},
    {opcode::multimem, q::acc_f16, {q::add}, small_floats},
    {opcode::multimem, q::acc_f16, extremes, small_floats},
    {opcode::multimem,
     any_form,
     {q::add},
     type_set{u32, s32, u64, f32, f64} | halves | small_floats},
    {opcode::multimem, q::red, extremes, {u32, s32, u64, s64}},
    {opcode::multimem, any_form, extremes, type_set{u32, s32, u64, s64} | halves | small_floats},
    {opcode::multimem, any_form, bitwise, {b32, b64}},
    {opcode::atom, any_form, {q::add}, {u32, s32, u64, f32, f64}, halves},
    {opcode::atom, any_form, extremes, {u32, s32, u64, s64}, halves},
    {opcode::atom, any_form, bitwise, {b32, b64}},
    {opcode::atom, any_form, steps, {u32}},
    {opcode::atom, any_form, {q::exch}, {b32, b64, b128}},
    {opcode::atom, any_form, {q::cas}, {b16, b32, b64, b128}},
};

std::string reduction_problem(const mnemonic& word) {
  const opcode name =
      word.opcode == opcode::red && !word.has(q::async) ? opcode::atom : word.opcode;
  for (const reduction_rule& rule : reduction_rules) {
    if (rule.name != name || !has_one_of(word, rule.operations)) continue;
    if (rule.form != any_form && !word.has(rule.form)) continue;
    const type_set& types = word.has(q::noftz) ? rule.types_of_noftz : rule.types;
    return types.has(word.type()) ? "" : no_type(word.type());
  }
  return {};
}

std::string atomic_problem(const mnemonic& word) {
  if (word.vector_width > 1 && word.type() != f32 && !halves.has(word.type())) {
    return "has no vectors of " + dotted(spelling(word.type()));
  }
  return reduction_problem(word);
}

// Multicast objects have vectors of floats, and single halves in vectors alone.
std::string multimem_problem(const mnemonic& word) {
  constexpr type_set whole{b32, b64, u32, u64, s32, s64, f32, f64, f16x2, bf16x2};
  constexpr type_set in_vectors{f16, bf16, e4m3, e5m2, e4m3x2, e5m2x2};
  constexpr type_set packed{e4m3x4, e5m2x4};
  const bool is_vector = word.vector_width > 1;
  const bool has_vectors = in_vectors.has(word.type()) || packed.has(word.type()) ||
                           (is_floating(word.type()) && word.type() != f64);
  if (word.has(q::cp)) return word.type_count ? reduction_problem(word) : "";
  if (is_vector ? !has_vectors : !whole.has(word.type()) && !packed.has(word.type()))
    return no_type(word.type());
  return reduction_problem(word);
}

// Products of four quarters of a warp take each layout.
std::string quad_problem(const mnemonic& word) {
  constexpr type_set sums{f16, f32};
  const auto layouts = word.qualifiers();
  if (std::ranges::count(layouts, q::row) + std::ranges::count(layouts, q::col) != 2)
    return "needs the layouts of A and B";
  const bool has_types = word.type(2) == f16 && sums.has(word.type()) && sums.has(word.type(3)) &&
                         (word.type(3) == f16 || word.type() == f32);
  return has_types ? "" : "has no form of these types";
}

std::string product_problem(const mnemonic& word) {
  if (!word.has(q::sync) || !word.has(q::aligned)) return "needs .sync and .aligned";
  const matrix_shape* const shape = find_shape(word);
  if (!shape) return "needs a shape";
  const bool has_kind =
      has_one_of(word, words{q::kind_f8f6f4, q::kind_mxf8f6f4, q::kind_mxf4, q::kind_mxf4nvf4});
  if (has_kind) return "";
  const bool is_rounded = has_one_of(word, roundings), is_bit = word.type(1) == b1;
  if (is_rounded && word.type() != f64) return "rounds .f64 alone";
  if (is_bit && (!word.has(q::popc) || word.has(q::xor_) == word.has(q::and_)))
    return "needs .popc and one of .xor and .and";
  if (word.has(q::satfinite) && word.type() != s32) return "saturates .s32 alone";
  if (word.has(q::popc) && !is_bit) return "has .popc for .b1 alone";
  const bool is_narrow = is_bit || word.type(1) == u4 || word.type(1) == s4;
  if (!is_narrow && has_one_of(word, words{q::xor_, q::and_}))
    return "has a Boolean operation for types of few bits alone";
  if (word.has(q::m8n8k4) && word.type(1) == f16) return quad_problem(word);
  const auto layouts = word.qualifiers();
  if (std::ranges::count(layouts, q::row) != 1 || std::ranges::count(layouts, q::col) != 1)
    return "needs .row and .col";
  return find_family(word) ? "" : "has no form of this shape and these types";
}

std::string copy_problem(const mnemonic& word) {
  if (word.has(q::mbarrier)) {
    if (word.type() != b64) return "needs the type .b64";
    const state_space space = word.space();
    const bool is_shared =
        without_sub_space(space) == state_space::shared && space != state_space::shared_cluster;
    return is_shared || !word.space_count ? "" : "has no such state space";
  }
  if (!word.has(q::reduce) || word.has(q::tensor)) return {};
  return word.type_count ? reduction_problem(word) : "needs a type";
}

}  // namespace

std::string access_problem(const module& m, const mnemonic& word) {
  switch (word.opcode) {
    case opcode::ld:
    case opcode::ldu:
    case opcode::st:
      if (word.has(q::bulk)) return "";
      if (!memory.has(word.type())) return no_type(word.type());
      if (word.vector_width * info(word.type()).bits > 128 && m.target_architecture() < 100) {
        return "has more than 16 bytes, which needs .target sm_100 or later";
      }
      if (word.has(q::async) && info(word.type()).bits < 32) return no_type(word.type());
      if (word.opcode != opcode::st) return {};
      if (word.has(q::nc)) return "has no modifier '.nc'";
      return word.space() == state_space::const_ ? "cannot write the space .const" : "";
    case opcode::atom:
    case opcode::red:
      return atomic_problem(word);
    case opcode::multimem:
      return multimem_problem(word);
    case opcode::cp:
      return copy_problem(word);
    case opcode::mma:
      return product_problem(word);
    case opcode::vote:
      if (word.type() != (word.has(q::ballot) ? b32 : pred)) return no_type(word.type());
      [[fallthrough]];
    case opcode::shfl: {
      const bool needs_sync =
          m.target_architecture() >= 70 && 10 * m.version_major + m.version_minor >= 64;
      return needs_sync && !word.has(q::sync) ? "needs .sync from sm_70 on" : "";
    }
    case opcode::redux:
      return redux_problem(m, word);
    case opcode::tcgen05:
      return word.has(q::red) ? extreme_problem(word) : "";
    case opcode::mbarrier:
      return word.type_count && word.type() != b64 ? "needs the type .b64" : "";
    default:
      return {};
  }
}

}  // namespace halfwarp::emulator::ptx
