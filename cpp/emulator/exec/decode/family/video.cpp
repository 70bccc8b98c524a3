// SPDX-License-Identifier: Apache-2.0
// Decodes the video instructions.
#include <algorithm>
#include <bit>

#include "emulator/exec/decode/opcodes.hpp"
#include "emulator/exec/scalar/video.hpp"

namespace halfwarp::emulator::exec {
namespace {

using ptx::component;
using ptx::opcode;
using ptx::operand_kind;
using ptx::qualifier;
using ptx::scalar_type;

struct named_operation {
  opcode name;
  video_operation operation;
  std::uint8_t lanes;
};
constexpr named_operation operations[] = {
    {opcode::vabsdiff, video_operation::absdiff, 1},
    {opcode::vabsdiff2, video_operation::absdiff, 2},
    {opcode::vabsdiff4, video_operation::absdiff, 4},
    {opcode::vadd, video_operation::add, 1},
    {opcode::vadd2, video_operation::add, 2},
    {opcode::vadd4, video_operation::add, 4},
    {opcode::vavrg2, video_operation::average, 2},
    {opcode::vavrg4, video_operation::average, 4},
    {opcode::vmad, video_operation::multiply_add, 1},
    {opcode::vmax, video_operation::max, 1},
    {opcode::vmax2, video_operation::max, 2},
    {opcode::vmax4, video_operation::max, 4},
    {opcode::vmin, video_operation::min, 1},
    {opcode::vmin2, video_operation::min, 2},
    {opcode::vmin4, video_operation::min, 4},
    {opcode::vset, video_operation::eq, 1},
    {opcode::vset2, video_operation::eq, 2},
    {opcode::vset4, video_operation::eq, 4},
    {opcode::vshl, video_operation::shift_left, 1},
    {opcode::vshr, video_operation::shift_right, 1},
    {opcode::vsub, video_operation::sub, 1},
    {opcode::vsub2, video_operation::sub, 2},
    {opcode::vsub4, video_operation::sub, 4},
};

video_operation comparison_of(const ptx::mnemonic& m) {
  constexpr qualifier names[] = {qualifier::eq, qualifier::ne, qualifier::lt,
                                 qualifier::le, qualifier::gt, qualifier::ge};
  const auto* const match = std::ranges::find_if(names, [&](qualifier q) { return m.has(q); });
  if (match == std::end(names)) throw unsupported{"a comparison without an operator"};
  return static_cast<video_operation>(static_cast<int>(video_operation::eq) +
                                      static_cast<int>(match - std::begin(names)));
}

// Returns the whole register of an operand with a selector or a sign.
operand_slot whole(function_decoder& d, ptx::operand o) {
  o.component = component::none;
  o.is_negated = false;
  if (o.kind == operand_kind::register_) o.value = 0;
  return d.value(o, 32);
}

std::uint16_t part_of(const ptx::operand& o) {
  if (o.component == component::none) return video_part::whole;
  const int index = static_cast<int>(o.component);
  if (o.component >= component::h0 && o.component <= component::h1) {
    return static_cast<std::uint16_t>(video_part::first_half + index -
                                      static_cast<int>(component::h0));
  }
  if (o.component < component::b0 || o.component > component::b3) {
    throw unsupported{"this selector"};
  }
  return static_cast<std::uint16_t>(video_part::first_byte + index -
                                    static_cast<int>(component::b0));
}

// Returns the lanes that a selector such as .h10 or .b7531 names, 4 bits for each.
std::uint16_t lanes_of(const ptx::operand& o, std::uint8_t lanes, std::uint16_t otherwise) {
  if (o.component == component::none) return otherwise;
  const ptx::lane_selector selector{o.value};
  if (o.component != component::lanes || selector.count() != lanes ||
      selector.is_bytes() != (lanes == 4)) {
    throw unsupported{"this selector"};
  }
  return selector.digits();
}

std::uint32_t mask_of(const ptx::operand& o, std::uint8_t lanes) {
  if (o.component == component::none) return (1u << lanes) - 1;
  if (o.component != component::lanes) {
    const std::uint16_t part = part_of(o);
    const bool is_byte = part < video_part::first_half;
    if (is_byte != (lanes == 4)) throw unsupported{"this mask"};
    return 1u << (part - (is_byte ? video_part::first_byte : video_part::first_half));
  }
  const ptx::lane_selector selector{o.value};
  if (selector.is_bytes() != (lanes == 4)) throw unsupported{"this mask"};
  std::uint32_t mask = 0;
  for (int i = 0; i < selector.count(); ++i) mask |= 1u << (selector.digits() >> 4 * i & 15);
  if (mask >> lanes) throw unsupported{"this mask"};
  return mask;
}

// Sets signs, saturation and modes. A comparison has no type of its result.
void set_flags(const ptx::mnemonic& m, video_form& form, bool is_comparison) {
  for (scalar_type type : m.types()) {
    if (type != scalar_type::u32 && type != scalar_type::s32) throw unsupported{"this type"};
  }
  const std::size_t first = is_comparison ? 0 : 1;
  if (!is_comparison && ptx::is_signed(m.type(0))) form.flags |= video_flag::signed_result;
  if (ptx::is_signed(m.type(first))) form.flags |= video_flag::signed_a;
  if (ptx::is_signed(m.type(first + 1))) form.flags |= video_flag::signed_b;
  if (m.has(qualifier::sat)) form.flags |= video_flag::saturates;
  if (m.has(qualifier::wrap)) form.flags |= video_flag::wraps;
  if (m.has(qualifier::po)) form.flags |= video_flag::plus_one;
  if (m.has(qualifier::add)) form.second = video_second::add;
  if (m.has(qualifier::min)) form.second = video_second::min;
  if (m.has(qualifier::max)) form.second = video_second::max;
}

// A third source is the operand of the second operation, or what the result is merged into.
void require_third(const function_decoder& d, const video_form& form, bool merges) {
  const bool has_third = d.operands().size() == 4;
  const bool needs_third = form.lanes > 1 || form.second != video_second::none || merges ||
                           form.operation == video_operation::multiply_add;
  if (has_third != needs_third) throw unsupported{"number of operands"};
  if (merges && form.second != video_second::none) throw unsupported{"a second operation here"};
}

}  // namespace

void decode_video(function_decoder& d) {
  const ptx::mnemonic& m = d.spelling();
  const auto* const named = std::ranges::find(operations, m.opcode, &named_operation::name);
  video_form form;
  form.operation = named->operation;
  form.lanes = named->lanes;
  const bool is_comparison = named->operation == video_operation::eq;
  if (is_comparison) form.operation = comparison_of(m);
  set_flags(m, form, is_comparison);
  const ptx::operand &to = d.operand(0), &a = d.operand(1), &b = d.operand(2);
  std::uint32_t target = 0;
  if (form.lanes == 1) {
    form.a = part_of(a);
    form.b = part_of(b);
    target = part_of(to);
    require_third(d, form, target != video_part::whole);
    if (target != video_part::whole) form.second = video_second::merge;
    const bool has_c_sign = d.operands().size() == 4 && d.operand(3).is_negated;
    if (a.is_negated != b.is_negated) form.flags |= video_flag::negated_product;
    if (has_c_sign) form.flags |= video_flag::negated_c;
    const bool is_signed = a.is_negated || b.is_negated || has_c_sign;
    if (is_signed && form.operation != video_operation::multiply_add) {
      throw unsupported{"a negated operand"};
    }
  } else {
    // A number that is not less than the count of lanes is one of b, modulo this count.
    form.a = lanes_of(a, form.lanes, 0x3210);
    form.b = lanes_of(b, form.lanes, 0x7654);
    target = mask_of(to, form.lanes);
    require_third(d, form, false);
  }
  const operand_slot c = d.operands().size() == 4 ? whole(d, d.operand(3)) : d.constant(0, 32);
  const operand_slot x = whole(d, a), y = whole(d, b);
  ptx::operand result = to;
  result.component = component::none;
  result.value = 0;
  instruction& instr = d.emit(&run_video, flow::next);
  instr.operand = {d.result(result, 32), x, y, c};
  instr.immediate = std::bit_cast<std::int64_t>(form);
  instr.target = target;
  instr.flags = m.has(qualifier::shr7) ? 7 : m.has(qualifier::shr15) ? 15 : 0;
}

}  // namespace halfwarp::emulator::exec
