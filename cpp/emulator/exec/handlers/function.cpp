// SPDX-License-Identifier: Apache-2.0
// Approximate functions: rsqrt, ex2, lg2, sin, cos, tanh, and the short reciprocals of f64.
//
// Each f32 result is the f64 result rounded once. It is the value nearest to the exact result,
// except for ties that double precision cannot resolve.
#include <math.h>

#include "emulator/exec/lanes/half.hpp"
#include "emulator/exec/lanes/numbers.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

struct reciprocal_root {
  static double of(double a) { return 1.0 / __builtin_sqrt(a); }
};
struct power_of_two {
  static double of(double a) { return exp2(a); }
};
struct logarithm {
  static double of(double a) { return log2(a); }
};
struct sine {
  static double of(double a) { return sin(a); }
};
struct cosine {
  static double of(double a) { return cos(a); }
};
struct hyperbolic_tangent {
  static double of(double a) { return tanh(a); }
};

template <class Function>
void approximate(warp& w, const instruction& instr) {
  bool ftz = instr.flags & float_flag::ftz;
  float* d = w.at<float>(instr.operand[0]);
  const float* a = w.at<float>(instr.operand[1]);
  for_active(w, [=](int l) {
    float result = static_cast<float>(Function::of(ftz ? flushed(a[l]) : a[l]));
    if (ftz) result = flushed(result);
    d[l] = result == result ? result : from_bits(uint32_t{0x7fff'ffff});
  });
}

template <class Function, class Format, int Parts>
void approximate_half(warp& w, const instruction& instr) {
  bool ftz = instr.flags & float_flag::ftz;
  uint16_t* d = w.at<uint16_t>(instr.operand[0]);
  const uint16_t* a = w.at<uint16_t>(instr.operand[1]);
  for_active(w, [=](int l) {
    for (int i = l * Parts; i < (l + 1) * Parts; ++i) {
      uint16_t source = ftz ? Format::flushed(a[i]) : a[i];
      uint16_t result = rounded_to<Format>(Function::of(Format::to_float(source)), to_nearest);
      d[i] = ftz ? Format::flushed(result) : result;
    }
  });
}

// Reads only the upper half of the source and writes only the upper half of the result.
template <class Function>
void upper_half(warp& w, const instruction& instr) {
  constexpr uint64_t upper = 0xffff'ffff'0000'0000u;
  double* d = w.at<double>(instr.operand[0]);
  const double* a = w.at<double>(instr.operand[1]);
  auto flush = [](double value) {
    return bits(value) & 0x7ff0'0000'0000'0000u ? value
                                                : from_bits(bits(value) & 0x8000'0000'0000'0000u);
  };
  for_active(w, [=](int l) {
    double result = flush(Function::of(flush(from_bits(bits(a[l]) & upper))));
    d[l] = result == result ? from_bits(bits(result) & upper)
                            : from_bits(uint64_t{0x7fff'ffff'0000'0000});
  });
}
struct reciprocal {
  static double of(double a) { return 1.0 / a; }
};

constexpr handler_entry entries[] = {
    {"cos.f32", &approximate<cosine>},
    {"ex2.bf16", &approximate_half<power_of_two, bfloat, 1>},
    {"ex2.bf16x2", &approximate_half<power_of_two, bfloat, 2>},
    {"ex2.f16", &approximate_half<power_of_two, half, 1>},
    {"ex2.f16x2", &approximate_half<power_of_two, half, 2>},
    {"ex2.f32", &approximate<power_of_two>},
    {"lg2.f32", &approximate<logarithm>},
    {"rcp.upper.f64", &upper_half<reciprocal>},
    {"rsqrt.f32", &approximate<reciprocal_root>},
    {"rsqrt.f64", &unary<reciprocal_root, double>},
    {"rsqrt.upper.f64", &upper_half<reciprocal_root>},
    {"sin.f32", &approximate<sine>},
    {"tanh.bf16", &approximate_half<hyperbolic_tangent, bfloat, 1>},
    {"tanh.bf16x2", &approximate_half<hyperbolic_tangent, bfloat, 2>},
    {"tanh.f16", &approximate_half<hyperbolic_tangent, half, 1>},
    {"tanh.f16x2", &approximate_half<hyperbolic_tangent, half, 2>},
    {"tanh.f32", &approximate<hyperbolic_tangent>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family function_handlers;
const handler_family function_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
