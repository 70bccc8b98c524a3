// SPDX-License-Identifier: Apache-2.0
// Approximate functions: rsqrt, ex2, lg2, sin, cos, tanh, and the short reciprocals of f64.
//
// Each f32 result is the f64 result rounded once. It is the value nearest to the exact result,
// except for ties that double precision cannot resolve.
#include "emulator/exec/lanes/functions.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

struct reciprocal_root {
  [[gnu::always_inline]] static double of(double a) noexcept { return 1.0 / __builtin_sqrt(a); }
};

// The type of a function of the values of 32 lanes. The handlers of all formats share it.
using lane_function = void(const double* source, double* result);

template <class Function>
void compute(const double* source, double* result) {
#pragma GCC ivdep
  for (int l = 0; l < warp_size; ++l) result[l] = Function::of(source[l]);
  if constexpr (requires { Function::limit; }) {
    for (int l = 0; l < warp_size; ++l) {
      if (!(magnitude_of(source[l]) <= Function::limit)) result[l] = Function::exact(source[l]);
    }
  }
}

void approximate_float(warp& w, const instruction& instr, lane_function* function) {
  bool ftz = instr.flags & float_flag::ftz;
  float* d = w.at<float>(instr.operand[0]);
  const float* a = w.at<float>(instr.operand[1]);
  double source[warp_size], result[warp_size];
  for (int l = 0; l < warp_size; ++l) {
    source[l] = from_bits(blended(ftz, bits(flushed(a[l])), bits(a[l])));
  }
  function(source, result);
  assign(w, d, [&](int l) {
    uint32_t raw = bits(static_cast<float>(result[l])), nan = 0x7fff'ffff;
    raw = blended(ftz, bits(flushed(from_bits(raw))), raw);
    return from_bits(blended((raw & nan) > 0x7f80'0000u, nan, raw));
  });
}

// `ftz` only occurs with bf16, whose subnormal numbers stay.
template <class Format, int Parts>
void approximate_half(warp& w, const instruction& instr, lane_function* function) {
  constexpr int count = Parts * warp_size;
  uint16_t* d = w.at<uint16_t>(instr.operand[0]);
  const uint16_t* a = w.at<uint16_t>(instr.operand[1]);
  double source[count], result[count];
  for (int i = 0; i < count; ++i) source[i] = Format::to_float(a[i]);
  for (int first = 0; first < count; first += warp_size) function(source + first, result + first);
  auto round = [&](int i) { return nearest<Format>(result[i]); };
  if constexpr (Parts == 1)
    assign(w, d, round);
  else
    assign_packed(w, d, round);
}

template <class Function>
void approximate(warp& w, const instruction& instr) {
  approximate_float(w, instr, &compute<Function>);
}
template <class Function, class Format, int Parts>
void approximate(warp& w, const instruction& instr) {
  approximate_half<Format, Parts>(w, instr, &compute<Function>);
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
    {"ex2.bf16", &approximate<power_of_two, bfloat, 1>},
    {"ex2.bf16x2", &approximate<power_of_two, bfloat, 2>},
    {"ex2.f16", &approximate<power_of_two, half, 1>},
    {"ex2.f16x2", &approximate<power_of_two, half, 2>},
    {"ex2.f32", &approximate<power_of_two>},
    {"lg2.f32", &approximate<logarithm>},
    {"rcp.upper.f64", &upper_half<reciprocal>},
    {"rsqrt.f32", &approximate<reciprocal_root>},
    {"rsqrt.f64", &unary<reciprocal_root, double>},
    {"rsqrt.upper.f64", &upper_half<reciprocal_root>},
    {"sin.f32", &approximate<sine>},
    {"tanh.bf16", &approximate<hyperbolic_tangent, bfloat, 1>},
    {"tanh.bf16x2", &approximate<hyperbolic_tangent, bfloat, 2>},
    {"tanh.f16", &approximate<hyperbolic_tangent, half, 1>},
    {"tanh.f16x2", &approximate<hyperbolic_tangent, half, 2>},
    {"tanh.f32", &approximate<hyperbolic_tangent>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family function_handlers;
const handler_family function_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
