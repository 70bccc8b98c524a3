// SPDX-License-Identifier: Apache-2.0
// f32 and f64 arithmetic: add, sub, mul, fma, div, rcp, sqrt, min, max, neg, abs, copysign, testp.
#include "emulator/exec/lanes/half.hpp"
#include "emulator/exec/lanes/numbers.hpp"
#include "emulator/exec/lanes/rounding.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

struct addition {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct subtraction {
  template <class T>
  static T of(T a, T b) {
    return a - b;
  }
};
struct multiplication {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
};
struct division {
  template <class T>
  static T of(T a, T b) {
    return a / b;
  }
};
struct fused_multiply_add {
  static float of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static double of(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct reciprocal {
  template <class T>
  static T of(T a) {
    return T(1) / a;
  }
};
struct square_root {
  static float of(float a) { return __builtin_sqrtf(a); }
  static double of(double a) { return __builtin_sqrt(a); }
};

// Rounds to nearest even and preserves subnormal numbers.
struct plain {
  static float before(float value) { return value; }
  static double before(double value) { return value; }
  static float after(float value) { return value == value ? value : from_bits(0x7fff'ffffu); }
  static double after(double value) { return value; }
};
struct flushing {
  static float before(float value) { return flushed(value); }
  static float after(float value) { return plain::after(flushed(value)); }
};

template <class Operation, class T, class Mode>
void unary_float(warp& w, const instruction& instr) {
  T* d = w.at<T>(instr.operand[0]);
  const T* a = w.at<T>(instr.operand[1]);
  assign(w, d, [=](int l) { return Mode::after(Operation::of(Mode::before(a[l]))); });
}
template <class Operation, class T, class Mode>
void binary_float(warp& w, const instruction& instr) {
  T* d = w.at<T>(instr.operand[0]);
  const T *a = w.at<T>(instr.operand[1]), *b = w.at<T>(instr.operand[2]);
  assign(w, d,
         [=](int l) { return Mode::after(Operation::of(Mode::before(a[l]), Mode::before(b[l]))); });
}
template <class Operation, class T, class Mode>
void ternary_float(warp& w, const instruction& instr) {
  T* d = w.at<T>(instr.operand[0]);
  const T *a = w.at<T>(instr.operand[1]), *b = w.at<T>(instr.operand[2]),
          *c = w.at<T>(instr.operand[3]);
  assign(w, d, [=](int l) {
    return Mode::after(Operation::of(Mode::before(a[l]), Mode::before(b[l]), Mode::before(c[l])));
  });
}

// Supports any combination of rounding, ftz and sat in the flags of the instruction.
struct general_mode {
  bool ftz, sat;
  explicit general_mode(const instruction& instr)
      : ftz{(instr.flags & float_flag::ftz) != 0}, sat{(instr.flags & float_flag::sat) != 0} {}
  template <class T>
  T before(T value) const {
    if constexpr (sizeof(T) == 4) return ftz ? flushed(value) : value;
    return value;
  }
  template <class T>
  T after(T value) const {
    if constexpr (sizeof(T) == 8) return value;  // f64 has no modifiers
    value = before(value);
    if (sat) return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
    return plain::after(value);
  }
};

// Modifiers of f32 keep the compiler from using vectors, which would only add code.
template <class T, class F>
[[gnu::always_inline]] inline void assign_rounded(warp& w, T* d, F f) {
  if constexpr (sizeof(T) == 8) {
    assign(w, d, f);
  } else {
    for_active(w, [=](int l) { d[l] = f(l); });
  }
}

template <class Operation, class T>
void unary_general(warp& w, const instruction& instr) {
  general_mode mode{instr};
  rounding_mode rounding{instr.flags & float_flag::rounding};
  T* d = w.at<T>(instr.operand[0]);
  const T* a = w.at<T>(instr.operand[1]);
  assign_rounded(w, d, [=](int l) { return mode.after(Operation::of(mode.before(a[l]))); });
}
template <class Operation, class T>
void binary_general(warp& w, const instruction& instr) {
  general_mode mode{instr};
  rounding_mode rounding{instr.flags & float_flag::rounding};
  T* d = w.at<T>(instr.operand[0]);
  const T *a = w.at<T>(instr.operand[1]), *b = w.at<T>(instr.operand[2]);
  assign_rounded(
      w, d, [=](int l) { return mode.after(Operation::of(mode.before(a[l]), mode.before(b[l]))); });
}
template <class Operation, class T>
void ternary_general(warp& w, const instruction& instr) {
  general_mode mode{instr};
  rounding_mode rounding{instr.flags & float_flag::rounding};
  T* d = w.at<T>(instr.operand[0]);
  const T *a = w.at<T>(instr.operand[1]), *b = w.at<T>(instr.operand[2]),
          *c = w.at<T>(instr.operand[3]);
  assign_rounded(w, d, [=](int l) {
    return mode.after(Operation::of(mode.before(a[l]), mode.before(b[l]), mode.before(c[l])));
  });
}

template <class T>
inline constexpr bits_type<T> sign_bit = bits_type<T>(1) << (bits_of<T> - 1);

template <class T>
[[gnu::always_inline]] inline T canonical_nan() {
  if constexpr (sizeof(T) == 4)
    return from_bits(uint32_t{0x7fff'ffff});
  else
    return from_bits(uint64_t{0x7fff'ffff'ffff'ffff});
}

// Returns the operand that is a number if the other is NaN. -0 is smaller than +0.
struct minimum {
  template <class T>
  static T of(T a, T b) {
    bool selects_a = (a < b) | ((a == b) & (bits(a) >= sign_bit<T>)) | (b != b);
    T chosen = selects_a ? a : b;
    return chosen == chosen ? chosen : canonical_nan<T>();
  }
};
struct maximum {
  template <class T>
  static T of(T a, T b) {
    bool selects_a = (a > b) | ((a == b) & (bits(a) < sign_bit<T>)) | (b != b);
    T chosen = selects_a ? a : b;
    return chosen == chosen ? chosen : canonical_nan<T>();
  }
};
template <class Operation, class T>
void extreme(warp& w, const instruction& instr) {
  T* d = w.at<T>(instr.operand[0]);
  const T *a = w.at<T>(instr.operand[1]), *b = w.at<T>(instr.operand[2]);
  assign(w, d, [=](int l) { return Operation::of(a[l], b[l]); });
}
// Implements .ftz, .NaN, .xorsign.abs and three sources.
template <class Operation, int Sources>
void extreme_general(warp& w, const instruction& instr) {
  general_mode mode{instr};
  bool returns_nan = instr.flags & float_flag::nan,
       xors_sign = instr.flags & float_flag::xorsign_abs;
  float* d = w.at<float>(instr.operand[0]);
  const float *a = w.at<float>(instr.operand[1]), *b = w.at<float>(instr.operand[2]);
  const float* c = w.at<float>(instr.operand[Sources]);
  auto combined = [=](float x, float y) {
    x = mode.before(x);
    y = mode.before(y);
    uint32_t sign = (bits(x) ^ bits(y)) & sign_bit<float>;
    if (returns_nan && (x != x || y != y)) return canonical_nan<float>();
    if (!xors_sign) return Operation::of(x, y);
    float chosen = Operation::of(__builtin_fabsf(x), __builtin_fabsf(y));
    return chosen == chosen ? from_bits(bits(chosen) | sign) : chosen;
  };
  for_active(w, [=](int l) {
    float result = combined(a[l], b[l]);
    d[l] = Sources == 3 ? combined(result, c[l]) : result;
  });
}

struct negation {
  template <class T>
  static T of(T a) {
    return from_bits(bits(a) ^ sign_bit<T>);
  }
};
struct magnitude {
  template <class T>
  static T of(T a) {
    return from_bits(bits(a) & ~sign_bit<T>);
  }
};
struct flushed_negation {
  static float of(float a) { return negation::of(flushed(a)); }
};
struct flushed_magnitude {
  static float of(float a) { return magnitude::of(flushed(a)); }
};
struct sign_copy {  // the sign of a on the value of b
  template <class T>
  static T of(T a, T b) {
    return from_bits((bits(a) & sign_bit<T>) | (bits(b) & ~sign_bit<T>));
  }
};

struct is_finite {
  template <class T>
  static bool of(T a) {
    return __builtin_isfinite(a);
  }
};
struct is_infinite {
  template <class T>
  static bool of(T a) {
    return __builtin_isinf(a) != 0;
  }
};
struct is_number {
  template <class T>
  static bool of(T a) {
    return a == a;
  }
};
struct is_not_a_number {
  template <class T>
  static bool of(T a) {
    return a != a;
  }
};
struct is_normal {
  template <class T>
  static bool of(T a) {
    return __builtin_isnormal(a);
  }
};
struct is_subnormal {
  template <class T>
  static bool of(T a) {
    return __builtin_isfinite(a) && !__builtin_isnormal(a) && a != 0;
  }
};
template <class Property, class T>
void test(warp& w, const instruction& instr) {
  const T* a = w.at<T>(instr.operand[1]);
  set_predicate(w, instr.operand[0], collect([=](int l) { return Property::of(a[l]); }));
}

constexpr handler_entry entries[] = {
    {"abs.f32", &unary<magnitude, float>},
    {"abs.f64", &unary<magnitude, double>},
    {"abs.ftz.f32", &unary<flushed_magnitude, float>},
    {"add.f32", &binary_float<addition, float, plain>},
    {"add.f64", &binary_float<addition, double, plain>},
    {"add.ftz.f32", &binary_float<addition, float, flushing>},
    {"add.general.f32", &binary_general<addition, float>},
    {"add.general.f64", &binary_general<addition, double>},
    {"copysign.f32", &binary<sign_copy, float>},
    {"copysign.f64", &binary<sign_copy, double>},
    {"div.f32", &binary_float<division, float, plain>},
    {"div.f64", &binary_float<division, double, plain>},
    {"div.ftz.f32", &binary_float<division, float, flushing>},
    {"div.general.f32", &binary_general<division, float>},
    {"div.general.f64", &binary_general<division, double>},
    {"fma.f32", &ternary_float<fused_multiply_add, float, plain>},
    {"fma.f64", &ternary_float<fused_multiply_add, double, plain>},
    {"fma.ftz.f32", &ternary_float<fused_multiply_add, float, flushing>},
    {"fma.general.f32", &ternary_general<fused_multiply_add, float>},
    {"fma.general.f64", &ternary_general<fused_multiply_add, double>},
    {"max.f32", &extreme<maximum, float>},
    {"max.f64", &extreme<maximum, double>},
    {"max.general.f32", &extreme_general<maximum, 2>},
    {"max3.general.f32", &extreme_general<maximum, 3>},
    {"min.f32", &extreme<minimum, float>},
    {"min.f64", &extreme<minimum, double>},
    {"min.general.f32", &extreme_general<minimum, 2>},
    {"min3.general.f32", &extreme_general<minimum, 3>},
    {"mul.f32", &binary_float<multiplication, float, plain>},
    {"mul.f64", &binary_float<multiplication, double, plain>},
    {"mul.ftz.f32", &binary_float<multiplication, float, flushing>},
    {"mul.general.f32", &binary_general<multiplication, float>},
    {"mul.general.f64", &binary_general<multiplication, double>},
    {"neg.f32", &unary<negation, float>},
    {"neg.f64", &unary<negation, double>},
    {"neg.ftz.f32", &unary<flushed_negation, float>},
    {"rcp.f32", &unary_float<reciprocal, float, plain>},
    {"rcp.f64", &unary_float<reciprocal, double, plain>},
    {"rcp.ftz.f32", &unary_float<reciprocal, float, flushing>},
    {"rcp.general.f32", &unary_general<reciprocal, float>},
    {"rcp.general.f64", &unary_general<reciprocal, double>},
    {"sqrt.f32", &unary_float<square_root, float, plain>},
    {"sqrt.f64", &unary_float<square_root, double, plain>},
    {"sqrt.ftz.f32", &unary_float<square_root, float, flushing>},
    {"sqrt.general.f32", &unary_general<square_root, float>},
    {"sqrt.general.f64", &unary_general<square_root, double>},
    {"sub.f32", &binary_float<subtraction, float, plain>},
    {"sub.f64", &binary_float<subtraction, double, plain>},
    {"sub.ftz.f32", &binary_float<subtraction, float, flushing>},
    {"sub.general.f32", &binary_general<subtraction, float>},
    {"sub.general.f64", &binary_general<subtraction, double>},
    {"testp.finite.f32", &test<is_finite, float>},
    {"testp.finite.f64", &test<is_finite, double>},
    {"testp.infinite.f32", &test<is_infinite, float>},
    {"testp.infinite.f64", &test<is_infinite, double>},
    {"testp.normal.f32", &test<is_normal, float>},
    {"testp.normal.f64", &test<is_normal, double>},
    {"testp.notanumber.f32", &test<is_not_a_number, float>},
    {"testp.notanumber.f64", &test<is_not_a_number, double>},
    {"testp.number.f32", &test<is_number, float>},
    {"testp.number.f64", &test<is_number, double>},
    {"testp.subnormal.f32", &test<is_subnormal, float>},
    {"testp.subnormal.f64", &test<is_subnormal, double>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family float_handlers;
const handler_family float_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
