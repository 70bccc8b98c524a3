// SPDX-License-Identifier: Apache-2.0
// Conversions between integers and floating-point numbers, and between floating-point formats.
//
// Narrow integers arrive extended to 32 bits, and 16-bit floats as f32. The flags select the
// rounding, or for rni, rzi, rmi, rpi the rounding to an integral value.
#include <math.h>

#include "emulator/exec/lanes/numbers.hpp"
#include "emulator/exec/lanes/rounding.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

template <class T>
T integral(T value, int rounding) {
  switch (rounding) {
    case to_zero:
      return __builtin_trunc(value);
    case down:
      return __builtin_floor(value);
    case up:
      return __builtin_ceil(value);
    default:
      return __builtin_rint(value);  // the host rounds to nearest even
  }
}

template <class T>
constexpr T limit_low() {
  return static_cast<T>(static_cast<T>(-1) < 0 ? T(1) << (8 * sizeof(T) - 1) : 0);
}
template <class T>
constexpr T limit_high() {
  return static_cast<T>(~limit_low<T>());
}

// Saturates. NaN becomes 0, or only the top bit for f64 sources or 64-bit results.
template <class D, class S>
D saturated(S value) {
  if (value != value) {
    bool is_top_bit = sizeof(S) == 8 || sizeof(D) == 8;
    return is_top_bit ? static_cast<D>(u64{1} << (8 * sizeof(D) - 1)) : D(0);
  }
  // 2^n bounds are exact in every format, unlike the highest integer.
  constexpr bool is_signed = static_cast<D>(-1) < 0;
  const S high = static_cast<S>(u64{1} << (8 * sizeof(D) - 1)) * (is_signed ? S(1) : S(2));
  if (value >= high) return limit_high<D>();
  if (value <= static_cast<S>(limit_low<D>())) return limit_low<D>();
  return static_cast<D>(value);
}

template <class D, class S>
void to_integer(warp& w, const instruction& instr) {
  int rounding = instr.flags & float_flag::rounding;
  bool ftz = instr.flags & float_flag::ftz;
  D* d = w.at<D>(instr.operand[0]);
  const S* a = w.at<S>(instr.operand[1]);
  for_active(w, [=](int l) {
    S value = a[l];
    if constexpr (sizeof(S) == 4) value = ftz ? flushed(value) : value;
    d[l] = saturated<D>(integral(value, rounding));
  });
}

// Converts f32 to s32 towards zero, the frequent case.
void truncate_to_s32(warp& w, const instruction& instr) {
  i32* d = w.at<i32>(instr.operand[0]);
  const float* a = w.at<float>(instr.operand[1]);
  assign(w, d, [=](int l) {
    float value = a[l];
    bool is_inside = (value > -0x1p31f) & (value < 0x1p31f);
    i32 outside = value >= 0x1p31f ? 0x7fff'ffff : value == value ? limit_low<i32>() : 0;
    i32 converted = static_cast<i32>(is_inside ? value : 0.0f);
    return is_inside ? converted : outside;
  });
}

template <class T>
T clamped_to_unit(T value) {
  return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
}

float finished(float value, const instruction& instr) {
  if (instr.flags & float_flag::ftz) value = flushed(value);
  if (instr.flags & float_flag::sat) return clamped_to_unit(value);
  return value == value ? value : from_bits(u32{0x7fff'ffff});
}
double finished(double value, const instruction& instr) {
  return instr.flags & float_flag::sat ? clamped_to_unit(value) : value;
}

template <class D, class S>
void from_integer(warp& w, const instruction& instr) {
  rounding_mode rounding{instr.flags & float_flag::rounding};
  D* d = w.at<D>(instr.operand[0]);
  const S* a = w.at<S>(instr.operand[1]);
  if (instr.flags & float_flag::sat) {
    for_active(w, [=](int l) { d[l] = clamped_to_unit(static_cast<D>(a[l])); });
  } else {
    assign(w, d, [=](int l) { return static_cast<D>(a[l]); });
  }
}

// Returns an f64 that rounds to a shorter format as the integer would. Bits beyond 53 are merged
// into a sticky last bit.
double with_sticky_bit(u64 magnitude) {
  if (magnitude >> 53 == 0) return static_cast<double>(magnitude);
  int shift = 64 - __builtin_clzll(magnitude) - 53;
  u64 lost = magnitude & ((u64{1} << shift) - 1);
  u64 truncated = magnitude >> shift << shift;
  return static_cast<double>(lost ? truncated | u64{1} << shift : truncated);
}
template <class Format, class S>
void half_from_integer(warp& w, const instruction& instr) {
  int rounding = instr.flags & float_flag::rounding;
  u16* d = w.at<u16>(instr.operand[0]);
  const S* a = w.at<S>(instr.operand[1]);
  for_active(w, [=](int l) {
    bool is_negative = a[l] < 0;
    u64 magnitude = is_negative ? 0 - static_cast<u64>(a[l]) : static_cast<u64>(a[l]);
    double value = with_sticky_bit(magnitude);
    d[l] = rounded_to<Format>(is_negative ? -value : value, rounding);
  });
}

// Converts f32 to f32 or f64 to f64. rni, rzi, rmi and rpi round to an integral value.
template <class T>
void same_type(warp& w, const instruction& instr) {
  int rounding = instr.flags & float_flag::rounding;
  bool is_integral = instr.immediate;
  T* d = w.at<T>(instr.operand[0]);
  const T* a = w.at<T>(instr.operand[1]);
  for_active(w, [&](int l) {
    T value = a[l];
    if constexpr (sizeof(T) == 4) value = instr.flags & float_flag::ftz ? flushed(value) : value;
    if (is_integral) value = integral(value, rounding);
    d[l] = finished(value, instr);
  });
}

void double_to_float(warp& w, const instruction& instr) {
  rounding_mode rounding{instr.flags & float_flag::rounding};
  float* d = w.at<float>(instr.operand[0]);
  const double* a = w.at<double>(instr.operand[1]);
  assign(w, d, [&](int l) { return finished(static_cast<float>(a[l]), instr); });
}
void float_to_double(warp& w, const instruction& instr) {
  bool ftz = instr.flags & float_flag::ftz, sat = instr.flags & float_flag::sat;
  double* d = w.at<double>(instr.operand[0]);
  const float* a = w.at<float>(instr.operand[1]);
  assign(w, d, [=](int l) {
    double value = static_cast<double>(ftz ? flushed(a[l]) : a[l]);
    return sat ? clamped_to_unit(value) : value;
  });
}

// Rounds to a 16-bit format, and applies the modifiers. `ftz` of a conversion is about its source.
template <class Format>
[[gnu::noinline]] u16 converted(double value, const instruction& instr) {
  u16 rounded = rounded_to<Format>(value, instr.flags & float_flag::rounding);
  return modified<Format>(rounded, instr.flags & ~float_flag::ftz);
}

// S is float or double.
template <class Format, class S>
void to_half(warp& w, const instruction& instr) {
  u16* d = w.at<u16>(instr.operand[0]);
  const S* a = w.at<S>(instr.operand[1]);
  for_active(w, [&](int l) {
    double value = static_cast<double>(a[l]);
    if constexpr (sizeof(S) == 4) value = instr.flags & float_flag::ftz ? flushed(a[l]) : a[l];
    d[l] = converted<Format>(value, instr);
  });
}
// Rounds to nearest even without other modifiers.
template <class Format>
void to_half_nearest(warp& w, const instruction& instr) {
  u16* d = w.at<u16>(instr.operand[0]);
  const float* a = w.at<float>(instr.operand[1]);
  assign(w, d, [=](int l) { return nearest<Format>(a[l]); });
}
// Packs two values into one register. Operand 1 becomes the upper half.
template <class Format>
void to_half_pair(warp& w, const instruction& instr) {
  u32* d = w.at<u32>(instr.operand[0]);
  const float *a = w.at<float>(instr.operand[1]), *b = w.at<float>(instr.operand[2]);
  if (instr.flags == to_nearest) {
    assign(w, d, [=](int l) { return u32{nearest<Format>(a[l])} << 16 | nearest<Format>(b[l]); });
    return;
  }
  for_active(w, [&](int l) {
    d[l] = u32{converted<Format>(a[l], instr)} << 16 | converted<Format>(b[l], instr);
  });
}

template <class Format>
void from_half(warp& w, const instruction& instr) {
  float* d = w.at<float>(instr.operand[0]);
  const u16* a = w.at<u16>(instr.operand[1]);
  if (instr.flags & (float_flag::ftz | float_flag::sat)) {
    for_active(w, [&](int l) { d[l] = finished(Format::to_float(a[l]), instr); });
  } else {
    assign(w, d, [=](int l) {
      float value = Format::to_float(a[l]);
      return value == value ? value : from_bits(u32{0x7fff'ffff});
    });
  }
}

// Clamps 64-bit integers to the range of a narrower type.
template <class S, class D>
struct clamp_to {
  static S of(S value) {
    constexpr bool is_signed_source = static_cast<S>(-1) < 0;
    constexpr bool is_signed_target = static_cast<D>(-1) < 0;
    constexpr u64 high = static_cast<u64>(limit_high<D>());
    if constexpr (is_signed_source) {
      if (value < 0) {
        if (!is_signed_target) return 0;
        return value < static_cast<i64>(limit_low<D>()) ? static_cast<S>(limit_low<D>()) : value;
      }
    }
    return static_cast<u64>(value) > high ? static_cast<S>(high) : value;
  }
};

constexpr handler_entry entries[] = {
    {"clamp.s64.s16", &unary<clamp_to<i64, i16>, i64>},
    {"clamp.s64.s32", &unary<clamp_to<i64, i32>, i64>},
    {"clamp.s64.s64", &unary<clamp_to<i64, i64>, i64>},
    {"clamp.s64.s8", &unary<clamp_to<i64, i8>, i64>},
    {"clamp.s64.u16", &unary<clamp_to<i64, u16>, i64>},
    {"clamp.s64.u32", &unary<clamp_to<i64, u32>, i64>},
    {"clamp.s64.u64", &unary<clamp_to<i64, u64>, i64>},
    {"clamp.s64.u8", &unary<clamp_to<i64, u8>, i64>},
    {"clamp.u64.s16", &unary<clamp_to<u64, i16>, u64>},
    {"clamp.u64.s32", &unary<clamp_to<u64, i32>, u64>},
    {"clamp.u64.s64", &unary<clamp_to<u64, i64>, u64>},
    {"clamp.u64.s8", &unary<clamp_to<u64, i8>, u64>},
    {"clamp.u64.u16", &unary<clamp_to<u64, u16>, u64>},
    {"clamp.u64.u32", &unary<clamp_to<u64, u32>, u64>},
    {"clamp.u64.u64", &unary<clamp_to<u64, u64>, u64>},
    {"clamp.u64.u8", &unary<clamp_to<u64, u8>, u64>},
    {"cvt.bf16.f32", &to_half<bfloat, float>},
    {"cvt.bf16.f64", &to_half<bfloat, double>},
    {"cvt.bf16.s32", &half_from_integer<bfloat, i32>},
    {"cvt.bf16.s64", &half_from_integer<bfloat, i64>},
    {"cvt.bf16.u32", &half_from_integer<bfloat, u32>},
    {"cvt.bf16.u64", &half_from_integer<bfloat, u64>},
    {"cvt.bf16x2.f32", &to_half_pair<bfloat>},
    {"cvt.f16.f32", &to_half<half, float>},
    {"cvt.f16.f64", &to_half<half, double>},
    {"cvt.f16.s32", &half_from_integer<half, i32>},
    {"cvt.f16.s64", &half_from_integer<half, i64>},
    {"cvt.f16.u32", &half_from_integer<half, u32>},
    {"cvt.f16.u64", &half_from_integer<half, u64>},
    {"cvt.f16x2.f32", &to_half_pair<half>},
    {"cvt.f32.bf16", &from_half<bfloat>},
    {"cvt.f32.f16", &from_half<half>},
    {"cvt.f32.f32", &same_type<float>},
    {"cvt.f32.f64", &double_to_float},
    {"cvt.f32.s32", &from_integer<float, i32>},
    {"cvt.f32.s64", &from_integer<float, i64>},
    {"cvt.f32.u32", &from_integer<float, u32>},
    {"cvt.f32.u64", &from_integer<float, u64>},
    {"cvt.f64.f32", &float_to_double},
    {"cvt.f64.f64", &same_type<double>},
    {"cvt.f64.s32", &from_integer<double, i32>},
    {"cvt.f64.s64", &from_integer<double, i64>},
    {"cvt.f64.u32", &from_integer<double, u32>},
    {"cvt.f64.u64", &from_integer<double, u64>},
    {"cvt.nearest.bf16.f32", &to_half_nearest<bfloat>},
    {"cvt.nearest.f16.f32", &to_half_nearest<half>},
    {"cvt.rzi.s32.f32", &truncate_to_s32},
    {"cvt.s16.f32", &to_integer<i16, float>},
    {"cvt.s16.f64", &to_integer<i16, double>},
    {"cvt.s32.f32", &to_integer<i32, float>},
    {"cvt.s32.f64", &to_integer<i32, double>},
    {"cvt.s64.f32", &to_integer<i64, float>},
    {"cvt.s64.f64", &to_integer<i64, double>},
    {"cvt.s8.f32", &to_integer<i8, float>},
    {"cvt.s8.f64", &to_integer<i8, double>},
    {"cvt.u16.f32", &to_integer<u16, float>},
    {"cvt.u16.f64", &to_integer<u16, double>},
    {"cvt.u32.f32", &to_integer<u32, float>},
    {"cvt.u32.f64", &to_integer<u32, double>},
    {"cvt.u64.f32", &to_integer<u64, float>},
    {"cvt.u64.f64", &to_integer<u64, double>},
    {"cvt.u8.f32", &to_integer<u8, float>},
    {"cvt.u8.f64", &to_integer<u8, double>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family convert_handlers;
const handler_family convert_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
