// SPDX-License-Identifier: Apache-2.0
// Arithmetic of 16-bit floats, single and packed: computed in a wider format, rounded once.
#include "emulator/exec/lanes/half.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

// Handlers work on groups of 32 values: a packed register has two groups. Conversions and the
// steps around an operation are shared by all handlers, which keeps the vectorized code small.
using float_group = float[warp_size];
using half_group = u16[warp_size];
using float_operation = void(const float_group* source, float* result);
using half_operation = void(const half_group* source, uint16_t flags, u16* result);

template <class F>
[[gnu::always_inline]] inline void for_group(F f) {
#pragma GCC ivdep
  for (int i = 0; i < warp_size; ++i) f(i);
}

void store_parts(warp& w, const u16* result, u16* d, int parts) {
  if (w.active == all_lanes) {
    std::copy_n(result, parts * warp_size, d);
  } else {
    for_active(w, [&](int l) { std::copy_n(&result[parts * l], parts, &d[parts * l]); });
  }
}

template <class Format>
[[gnu::noinline]] void load(const u16* values, bool ftz, float* result) {
  for_group([&](int i) {
    result[i] = Format::to_float(blended(ftz, Format::flushed(values[i]), values[i]));
  });
}
template <class Format>
[[gnu::noinline]] void round(const float* values, uint16_t flags, u16* result) {
  for_group([&](int i) { result[i] = nearest<Format>(values[i]); });
  if (flags & (float_flag::ftz | float_flag::sat | float_flag::relu)) {
    for_group([&](int i) { result[i] = modified<Format>(result[i], flags); });
  }
}

template <class Format>
void run_on_floats(warp& w, const instruction& instr, int parts, int sources,
                   float_operation* operation) {
  const bool ftz = instr.flags & float_flag::ftz;
  u16 result[2 * warp_size];
  for (int first = 0; first < parts * warp_size; first += warp_size) {
    float_group source[3], sum;
    for (int s = 0; s < sources; ++s) {
      load<Format>(w.at<u16>(instr.operand[s + 1]) + first, ftz, source[s]);
    }
    operation(source, sum);
    round<Format>(sum, instr.flags, result + first);
  }
  store_parts(w, result, w.at<u16>(instr.operand[0]), parts);
}

template <class Format>
void run_on_halves(warp& w, const instruction& instr, int parts, int sources,
                   half_operation* operation) {
  const bool ftz = instr.flags & float_flag::ftz;
  u16 result[2 * warp_size];
  for (int first = 0; first < parts * warp_size; first += warp_size) {
    half_group source[2];
    for (int s = 0; s < sources; ++s) {
      const u16* values = w.at<u16>(instr.operand[s + 1]) + first;
      for_group([&](int i) { source[s][i] = blended(ftz, Format::flushed(values[i]), values[i]); });
    }
    operation(source, instr.flags, result + first);
  }
  store_parts(w, result, w.at<u16>(instr.operand[0]), parts);
}

// Sums and products of two 11-bit fractions can be rounded to f32 first without changing the
// result, because f32 has more than twice as many bits.
void add(const float_group* source, float* result) {
  for_group([&](int i) { result[i] = source[0][i] + source[1][i]; });
}
void subtract(const float_group* source, float* result) {
  for_group([&](int i) { result[i] = source[0][i] - source[1][i]; });
}
void multiply(const float_group* source, float* result) {
  for_group([&](int i) { result[i] = source[0][i] * source[1][i]; });
}

template <class Float>
[[gnu::always_inline]] inline Float add_round_to_odd(Float product, Float addend) {
  Float sum = product + addend;
  Float part = sum - product;
  return rounded_to_odd(sum, (product - (sum - part)) + (addend - part));
}

// Products of f16 are exact in f32. Products of bf16 can leave its range.
template <class Format>
void fuse(const float_group* source, float* result) {
  for_group([&](int i) {
    if constexpr (Format::fraction_bits == half::fraction_bits) {
      result[i] = add_round_to_odd(source[0][i] * source[1][i], source[2][i]);
    } else {
      double product = double{source[0][i]} * double{source[1][i]};
      result[i] = narrowed(add_round_to_odd(product, double{source[2][i]}));
    }
  });
}

void negate(const half_group* source, uint16_t, u16* result) {
  for_group([&](int i) { result[i] = source[0][i] ^ 0x8000; });
}
void remove_sign(const half_group* source, uint16_t, u16* result) {
  for_group([&](int i) { result[i] = source[0][i] & 0x7fff; });
}

// Maps a number to an integer with the same order, -0 below +0.
[[gnu::always_inline]] inline int16_t ordered(u16 value) {
  u16 reversed = value ^ 0x7fff;
  return static_cast<int16_t>(blended((value & 0x8000) != 0, reversed, value));
}

template <class Format, bool IsMaximum>
void choose(const half_group* source, uint16_t flags, u16* result) {
  bool propagates_nan = flags & float_flag::nan;
  u16 sign_of_product = flags & float_flag::xorsign_abs ? 0x8000 : 0;
  for_group([&](int i) {
    u16 a = source[0][i], b = source[1][i];
    u16 sign = (a ^ b) & sign_of_product;
    u16 x = a & ~sign_of_product, y = b & ~sign_of_product;
    bool x_is_nan = (x & 0x7fff) > Format::exponent_mask;
    bool y_is_nan = (y & 0x7fff) > Format::exponent_mask;
    bool is_nan = (x_is_nan & y_is_nan) | (propagates_nan & (x_is_nan | y_is_nan));
    bool exceeds = IsMaximum ? ordered(x) > ordered(y) : ordered(x) < ordered(y);
    u16 number = blended<u16>(y_is_nan | (exceeds & !x_is_nan), x, y);
    result[i] = blended<u16>(is_nan, Format::nan, number | sign);
  });
}

template <class Format, int Parts, int Sources, float_operation* Operation>
void on_floats(warp& w, const instruction& instr) {
  run_on_floats<Format>(w, instr, Parts, Sources, Operation);
}
template <class Format, int Parts, int Sources, half_operation* Operation>
void on_halves(warp& w, const instruction& instr) {
  run_on_halves<Format>(w, instr, Parts, Sources, Operation);
}

constexpr handler_entry entries[] = {
    {"abs.bf16", &on_halves<bfloat, 1, 1, &remove_sign>},
    {"abs.bf16x2", &on_halves<bfloat, 2, 1, &remove_sign>},
    {"abs.f16", &on_halves<half, 1, 1, &remove_sign>},
    {"abs.f16x2", &on_halves<half, 2, 1, &remove_sign>},
    {"add.bf16", &on_floats<bfloat, 1, 2, &add>},
    {"add.bf16x2", &on_floats<bfloat, 2, 2, &add>},
    {"add.f16", &on_floats<half, 1, 2, &add>},
    {"add.f16x2", &on_floats<half, 2, 2, &add>},
    {"fma.bf16", &on_floats<bfloat, 1, 3, &fuse<bfloat>>},
    {"fma.bf16x2", &on_floats<bfloat, 2, 3, &fuse<bfloat>>},
    {"fma.f16", &on_floats<half, 1, 3, &fuse<half>>},
    {"fma.f16x2", &on_floats<half, 2, 3, &fuse<half>>},
    {"max.bf16", &on_halves<bfloat, 1, 2, &choose<bfloat, true>>},
    {"max.bf16x2", &on_halves<bfloat, 2, 2, &choose<bfloat, true>>},
    {"max.f16", &on_halves<half, 1, 2, &choose<half, true>>},
    {"max.f16x2", &on_halves<half, 2, 2, &choose<half, true>>},
    {"min.bf16", &on_halves<bfloat, 1, 2, &choose<bfloat, false>>},
    {"min.bf16x2", &on_halves<bfloat, 2, 2, &choose<bfloat, false>>},
    {"min.f16", &on_halves<half, 1, 2, &choose<half, false>>},
    {"min.f16x2", &on_halves<half, 2, 2, &choose<half, false>>},
    {"mul.bf16", &on_floats<bfloat, 1, 2, &multiply>},
    {"mul.bf16x2", &on_floats<bfloat, 2, 2, &multiply>},
    {"mul.f16", &on_floats<half, 1, 2, &multiply>},
    {"mul.f16x2", &on_floats<half, 2, 2, &multiply>},
    {"neg.bf16", &on_halves<bfloat, 1, 1, &negate>},
    {"neg.bf16x2", &on_halves<bfloat, 2, 1, &negate>},
    {"neg.f16", &on_halves<half, 1, 1, &negate>},
    {"neg.f16x2", &on_halves<half, 2, 1, &negate>},
    {"sub.bf16", &on_floats<bfloat, 1, 2, &subtract>},
    {"sub.bf16x2", &on_floats<bfloat, 2, 2, &subtract>},
    {"sub.f16", &on_floats<half, 1, 2, &subtract>},
    {"sub.f16x2", &on_floats<half, 2, 2, &subtract>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family half_handlers;
const handler_family half_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
