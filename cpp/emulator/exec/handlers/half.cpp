// SPDX-License-Identifier: Apache-2.0
// Arithmetic of 16-bit floats, single and packed: computed in a wider format, rounded once.
#include "emulator/exec/lanes/half.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

struct addition {
  static float of(float a, float b) { return a + b; }
};
struct subtraction {
  static float of(float a, float b) { return a - b; }
};
struct multiplication {
  static float of(float a, float b) { return a * b; }
};

// Products and sums of two 11-bit fractions can be rounded to f32 first without changing the
// result, because f32 has more than twice as many bits. Three sources need f64.
struct options {
  bool ftz, sat, relu;
  explicit options(uint16_t flags)
      : ftz{(flags & float_flag::ftz) != 0},
        sat{(flags & float_flag::sat) != 0},
        relu{(flags & float_flag::relu) != 0} {}
};

template <class Format>
u16 before(u16 value, const options& o) {
  return o.ftz ? Format::flushed(value) : value;
}

template <class Format>
u16 after(u16 value, const options& o) {
  if (o.ftz) value = Format::flushed(value);
  bool is_nan = (value & 0x7fff) > Format::exponent_mask, is_negative = value & 0x8000;
  if (o.sat) {
    if (is_nan || is_negative) return 0;
    u16 one = rounded_to<Format>(1.0, to_nearest);
    return value < one ? value : one;
  }
  return o.relu && is_negative && !is_nan ? 0 : value;
}

// Sets result[i] = f(i) for each part of the active lanes.
template <int Parts, class F>
void assign_parts(warp& w, u16* result, F f) {
  if constexpr (Parts == 1)
    assign(w, result, f);
  else
    assign_packed(w, result, f);
}

template <class Operation, class Format, int Parts>
void binary_half(warp& w, const instruction& instr) {
  u16* d = w.at<u16>(instr.operand[0]);
  const u16 *a = w.at<u16>(instr.operand[1]), *b = w.at<u16>(instr.operand[2]);
  constexpr unsigned modifiers = float_flag::ftz | float_flag::sat | float_flag::relu;
  if ((instr.flags & modifiers) == 0) {
    assign_parts<Parts>(w, d, [=](int i) {
      return nearest<Format>(Operation::of(Format::to_float(a[i]), Format::to_float(b[i])));
    });
    return;
  }
  options o{instr.flags};
  assign_parts<Parts>(w, d, [=](int i) {
    float x = Format::to_float(before<Format>(a[i], o));
    float y = Format::to_float(before<Format>(b[i], o));
    return after<Format>(nearest<Format>(Operation::of(x, y)), o);
  });
}

// Adds a product and an addend whose exact sum may need more bits than f64 has. The smaller operand
// then only affects the direction of rounding, so a sticky bit replaces it.
double add_round_to_odd(double product, double addend) {
  double sum = product + addend;
  double part = sum - product;
  double error = (product - (sum - part)) + (addend - part);
  uint64_t raw = bits(sum);
  bool is_finite = (raw >> 52 & 0x7ff) != 0x7ff;
  if (error == 0 || error != error || !is_finite || (raw & 1)) return sum;
  // Round to odd: replace an even result by its odd neighbor on the side of the error.
  bool grows = (error > 0) == (sum > 0);
  return from_bits(grows ? raw + 1 : raw - 1);
}

template <class Format, int Parts>
void fused_half(warp& w, const instruction& instr) {
  options o{instr.flags};
  u16* d = w.at<u16>(instr.operand[0]);
  const u16 *a = w.at<u16>(instr.operand[1]), *b = w.at<u16>(instr.operand[2]);
  const u16* c = w.at<u16>(instr.operand[3]);
  assign_parts<Parts>(w, d, [=](int i) {
    double x = Format::to_float(before<Format>(a[i], o));
    double y = Format::to_float(before<Format>(b[i], o));
    double z = Format::to_float(before<Format>(c[i], o));
    return after<Format>(rounded_to<Format>(add_round_to_odd(x * y, z), to_nearest), o);
  });
}

template <class Format, int Parts>
void negate_half(warp& w, const instruction& instr) {
  options o{instr.flags};
  u16* d = w.at<u16>(instr.operand[0]);
  const u16* a = w.at<u16>(instr.operand[1]);
  assign_parts<Parts>(w, d,
                      [=](int i) { return static_cast<u16>(before<Format>(a[i], o) ^ 0x8000); });
}
template <class Format, int Parts>
void magnitude_half(warp& w, const instruction& instr) {
  options o{instr.flags};
  u16* d = w.at<u16>(instr.operand[0]);
  const u16* a = w.at<u16>(instr.operand[1]);
  assign_parts<Parts>(w, d,
                      [=](int i) { return static_cast<u16>(before<Format>(a[i], o) & 0x7fff); });
}

// Maps a number to an integer with the same order, -0 below +0.
int ordered(u16 value) { return value & 0x8000 ? -(value & 0x7fff) - 1 : value; }

template <class Format, bool IsMaximum>
u16 extreme(u16 a, u16 b, uint16_t flags) {
  options o{flags};
  a = before<Format>(a, o);
  b = before<Format>(b, o);
  uint16_t sign = (a ^ b) & 0x8000;
  bool a_is_nan = (a & 0x7fff) > Format::exponent_mask;
  bool b_is_nan = (b & 0x7fff) > Format::exponent_mask;
  if ((a_is_nan && b_is_nan) || ((flags & float_flag::nan) && (a_is_nan || b_is_nan))) {
    return Format::nan;
  }
  if (flags & float_flag::xorsign_abs) {
    a &= 0x7fff;
    b &= 0x7fff;
  } else {
    sign = 0;
  }
  if (a_is_nan) return b | sign;
  if (b_is_nan) return a | sign;
  bool selects_a = IsMaximum ? ordered(a) > ordered(b) : ordered(a) < ordered(b);
  return (selects_a ? a : b) | sign;
}

template <class Format, int Parts, bool IsMaximum>
void extreme_half(warp& w, const instruction& instr) {
  uint16_t flags = instr.flags;
  u16* d = w.at<u16>(instr.operand[0]);
  const u16 *a = w.at<u16>(instr.operand[1]), *b = w.at<u16>(instr.operand[2]);
  assign_parts<Parts>(w, d, [=](int i) { return extreme<Format, IsMaximum>(a[i], b[i], flags); });
}

constexpr handler_entry entries[] = {
    {"abs.bf16", &magnitude_half<bfloat, 1>},
    {"abs.bf16x2", &magnitude_half<bfloat, 2>},
    {"abs.f16", &magnitude_half<half, 1>},
    {"abs.f16x2", &magnitude_half<half, 2>},
    {"add.bf16", &binary_half<addition, bfloat, 1>},
    {"add.bf16x2", &binary_half<addition, bfloat, 2>},
    {"add.f16", &binary_half<addition, half, 1>},
    {"add.f16x2", &binary_half<addition, half, 2>},
    {"fma.bf16", &fused_half<bfloat, 1>},
    {"fma.bf16x2", &fused_half<bfloat, 2>},
    {"fma.f16", &fused_half<half, 1>},
    {"fma.f16x2", &fused_half<half, 2>},
    {"max.bf16", &extreme_half<bfloat, 1, true>},
    {"max.bf16x2", &extreme_half<bfloat, 2, true>},
    {"max.f16", &extreme_half<half, 1, true>},
    {"max.f16x2", &extreme_half<half, 2, true>},
    {"min.bf16", &extreme_half<bfloat, 1, false>},
    {"min.bf16x2", &extreme_half<bfloat, 2, false>},
    {"min.f16", &extreme_half<half, 1, false>},
    {"min.f16x2", &extreme_half<half, 2, false>},
    {"mul.bf16", &binary_half<multiplication, bfloat, 1>},
    {"mul.bf16x2", &binary_half<multiplication, bfloat, 2>},
    {"mul.f16", &binary_half<multiplication, half, 1>},
    {"mul.f16x2", &binary_half<multiplication, half, 2>},
    {"neg.bf16", &negate_half<bfloat, 1>},
    {"neg.bf16x2", &negate_half<bfloat, 2>},
    {"neg.f16", &negate_half<half, 1>},
    {"neg.f16x2", &negate_half<half, 2>},
    {"sub.bf16", &binary_half<subtraction, bfloat, 1>},
    {"sub.bf16x2", &binary_half<subtraction, bfloat, 2>},
    {"sub.f16", &binary_half<subtraction, half, 1>},
    {"sub.f16x2", &binary_half<subtraction, half, 2>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family half_handlers;
const handler_family half_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
