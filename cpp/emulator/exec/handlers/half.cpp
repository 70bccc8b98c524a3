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

constexpr unsigned modifiers = float_flag::ftz | float_flag::sat | float_flag::relu;

template <class Format>
[[gnu::noinline]] void flush(const u16* values, u16* result, int count) {
  for (int i = 0; i < count; ++i) result[i] = Format::flushed(values[i]);
}
template <class Format>
[[gnu::noinline]] void modify(u16* values, int count, uint16_t flags) {
  for (int i = 0; i < count; ++i) values[i] = modified<Format>(values[i], flags);
}

// The sources of an instruction. With `ftz`, subnormal numbers are zeros.
template <class Format, int Parts, int Sources>
class sources {
 public:
  sources(warp& w, const instruction& instr) {
    for (int s = 0; s < Sources; ++s) {
      source_[s] = w.at<u16>(instr.operand[s + 1]);
      if ((instr.flags & float_flag::ftz) == 0) continue;
      flush<Format>(source_[s], flushed_[s], Parts * warp_size);
      source_[s] = flushed_[s];
    }
  }
  const u16* operator[](int s) const noexcept { return source_[s]; }

 private:
  const u16* source_[Sources];
  u16 flushed_[Sources][Parts * warp_size];
};

// Sets result[i] = f(i) for each part of the active lanes, modified as the instruction says.
template <class Format, int Parts, class F>
[[gnu::always_inline]] inline void assign_parts(warp& w, const instruction& instr, F f) {
  u16* d = w.at<u16>(instr.operand[0]);
  u16 result[Parts * warp_size];
#pragma GCC ivdep
  for (int i = 0; i < Parts * warp_size; ++i) result[i] = f(i);
  if (instr.flags & modifiers) modify<Format>(result, Parts * warp_size, instr.flags);
  if (w.active == all_lanes) {
    std::copy_n(result, Parts * warp_size, d);
  } else {
    for_active(w, [&](int l) { std::copy_n(&result[Parts * l], Parts, &d[Parts * l]); });
  }
}

// Sums and products of two 11-bit fractions can be rounded to f32 first without changing the
// result, because f32 has more than twice as many bits.
template <class Operation, class Format, int Parts>
void binary_half(warp& w, const instruction& instr) {
  sources<Format, Parts, 2> source{w, instr};
  const u16 *a = source[0], *b = source[1];
  assign_parts<Format, Parts>(w, instr, [=](int i) {
    return nearest<Format>(Operation::of(Format::to_float(a[i]), Format::to_float(b[i])));
  });
}

template <class Float>
[[gnu::always_inline]] inline Float add_round_to_odd(Float product, Float addend) {
  Float sum = product + addend;
  Float part = sum - product;
  return rounded_to_odd(sum, (product - (sum - part)) + (addend - part));
}

// Products of f16 are exact in f32.
[[gnu::always_inline]] inline float fused(half, float x, float y, float z) {
  return add_round_to_odd(x * y, z);
}

// Products of bf16 can leave the range of f32.
[[gnu::always_inline]] inline double fused(bfloat, float x, float y, float z) {
  return add_round_to_odd(double{x} * double{y}, double{z});
}

template <class Format, int Parts>
void fused_half(warp& w, const instruction& instr) {
  sources<Format, Parts, 3> source{w, instr};
  const u16 *a = source[0], *b = source[1], *c = source[2];
  assign_parts<Format, Parts>(w, instr, [=](int i) {
    auto sum =
        fused(Format{}, Format::to_float(a[i]), Format::to_float(b[i]), Format::to_float(c[i]));
    return nearest<Format>(sum);
  });
}

template <class Format, int Parts>
void negate_half(warp& w, const instruction& instr) {
  sources<Format, Parts, 1> source{w, instr};
  const u16* a = source[0];
  assign_parts<Format, Parts>(w, instr, [=](int i) { return static_cast<u16>(a[i] ^ 0x8000); });
}
template <class Format, int Parts>
void magnitude_half(warp& w, const instruction& instr) {
  sources<Format, Parts, 1> source{w, instr};
  const u16* a = source[0];
  assign_parts<Format, Parts>(w, instr, [=](int i) { return static_cast<u16>(a[i] & 0x7fff); });
}

// Maps a number to an integer with the same order, -0 below +0.
[[gnu::always_inline]] inline int16_t ordered(u16 value) {
  u16 reversed = value ^ 0x7fff;
  return static_cast<int16_t>(blended((value & 0x8000) != 0, reversed, value));
}

template <class Format, int Parts, bool IsMaximum>
void extreme_half(warp& w, const instruction& instr) {
  sources<Format, Parts, 2> source{w, instr};
  const u16 *a = source[0], *b = source[1];
  bool propagates_nan = instr.flags & float_flag::nan;
  u16 sign_of_product = instr.flags & float_flag::xorsign_abs ? 0x8000 : 0;
  assign_parts<Format, Parts>(w, instr, [=](int i) {
    u16 sign = (a[i] ^ b[i]) & sign_of_product;
    u16 x = a[i] & ~sign_of_product, y = b[i] & ~sign_of_product;
    bool x_is_nan = (x & 0x7fff) > Format::exponent_mask;
    bool y_is_nan = (y & 0x7fff) > Format::exponent_mask;
    bool is_nan = (x_is_nan & y_is_nan) | (propagates_nan & (x_is_nan | y_is_nan));
    bool exceeds = IsMaximum ? ordered(x) > ordered(y) : ordered(x) < ordered(y);
    u16 number = blended<u16>(y_is_nan | (exceeds & !x_is_nan), x, y);
    return blended<u16>(is_nan, Format::nan, number | sign);
  });
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
