// SPDX-License-Identifier: Apache-2.0
// Comparisons with predicate results, logic on predicates, and selection.
#include "emulator/exec/lanes/half.hpp"
#include "emulator/exec/lanes/numbers.hpp"
#include "emulator/exec/marks.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

struct equal {
  template <class T>
  static bool of(T a, T b) {
    return a == b;
  }
};
struct less {
  template <class T>
  static bool of(T a, T b) {
    return a < b;
  }
};
struct less_equal {
  template <class T>
  static bool of(T a, T b) {
    return a <= b;
  }
};
struct unequal_numbers {  // false if an operand is NaN
  template <class T>
  static bool of(T a, T b) {
    return (a < b) | (a > b);
  }
};
struct both_numbers {
  template <class T>
  static bool of(T a, T b) {
    return (a == a) & (b == b);
  }
};

// Sets predicate operand 0 to the comparison of operands 1 and 2. Immediate 1 inverts the result.
template <class Comparison, class T>
void compare(warp& w, const instruction& instr) {
  const T *a = w.at<T>(instr.operand[1]), *b = w.at<T>(instr.operand[2]);
  lane_mask result = collect([=](int l) { return Comparison::of(a[l], b[l]); });
  set_predicate(w, instr.operand[0], instr.immediate ? ~result : result);
}

// Counts the lanes whose operand 0 is not 0, for the mark of the target.
void count_words(warp& w, const instruction& instr) {
  const u32* a = w.at<u32>(instr.operand[0]);
  const lane_mask active = w.active;
  u32 is_true = 0;
  for (int l = 0; l < warp_size; ++l) is_true += (active & lanes.bit[l]) && a[l];
  count_outcomes(w, instr.target, is_true);
}

template <class Comparison>
void compare_flushed(warp& w, const instruction& instr) {
  const float *a = w.at<float>(instr.operand[1]), *b = w.at<float>(instr.operand[2]);
  lane_mask result = collect([=](int l) { return Comparison::of(flushed(a[l]), flushed(b[l])); });
  set_predicate(w, instr.operand[0], instr.immediate ? ~result : result);
}

// Converts one 16-bit value of each lane. A part of a packed register is shifted from the whole,
// because the compiler does not vectorize loads of every second value.
template <class Format, class Register>
void load_halves(warp& w, operand_slot slot, const instruction& instr, float* result) {
  const Register* values = w.at<Register>(slot);
  const int shift = 16 * instr.target;
  const bool ftz = instr.flags & float_flag::ftz;
  for (int l = 0; l < warp_size; ++l) {
    u16 raw = static_cast<u16>(values[l] >> shift);
    result[l] = Format::to_float(blended(ftz, Format::flushed(raw), raw));
  }
}

// Compares 16-bit values. The target selects the part of a packed register.
template <class Comparison, class Format, class Register>
void compare_half(warp& w, const instruction& instr) {
  float a[warp_size], b[warp_size];
  load_halves<Format, Register>(w, instr.operand[1], instr, a);
  load_halves<Format, Register>(w, instr.operand[2], instr, b);
  lane_mask result = collect([&](int l) { return Comparison::of(a[l], b[l]); });
  set_predicate(w, instr.operand[0], instr.immediate ? ~result : result);
}

// Sets d = a op b. Bits 0 and 1 of the immediate invert a and b.
template <class Operation>
void combine(warp& w, const instruction& instr) {
  lane_mask a = w.predicates[instr.operand[1]], b = w.predicates[instr.operand[2]];
  if (instr.immediate & 1) a = ~a;
  if (instr.immediate & 2) b = ~b;
  set_predicate(w, instr.operand[0], Operation::of(a, b));
}
struct predicate_and {
  static lane_mask of(lane_mask a, lane_mask b) { return a & b; }
};
struct predicate_or {
  static lane_mask of(lane_mask a, lane_mask b) { return a | b; }
};
struct predicate_xor {
  static lane_mask of(lane_mask a, lane_mask b) { return a ^ b; }
};

void move_predicate(warp& w, const instruction& instr) {
  lane_mask a = w.predicates[instr.operand[1]];
  set_predicate(w, instr.operand[0], instr.immediate ? ~a : a);
}
void set_predicate_constant(warp& w, const instruction& instr) {
  set_predicate(w, instr.operand[0], instr.immediate ? all_lanes : 0);
}
// Sets d = p ? a : b with the predicate in operand 3. Immediate 1 inverts it.
template <class T>
void select(warp& w, const instruction& instr) {
  T* d = w.at<T>(instr.operand[0]);
  const T *a = w.at<T>(instr.operand[1]), *b = w.at<T>(instr.operand[2]);
  lane_mask p = w.predicates[instr.operand[3]];
  if (instr.immediate) p = ~p;
  assign(w, d, [=](int l) { return (p & lanes.bit[l]) ? a[l] : b[l]; });
}

// Selects one half of a packed register: d.half[target] = p ? a.half[target] : b.half[target].
void select_half(warp& w, const instruction& instr) {
  u16* d = w.at<u16>(instr.operand[0]) + instr.target;
  const u16* a = w.at<u16>(instr.operand[1]) + instr.target;
  const u16* b = w.at<u16>(instr.operand[2]) + instr.target;
  lane_mask p = w.predicates[instr.operand[3]];
  for_active(w, [=](int l) { d[2 * l] = (p >> l & 1) ? a[2 * l] : b[2 * l]; });
}

constexpr handler_entry entries[] = {
    {"and.pred", &combine<predicate_and>},
    {"mark.b32", &count_words},
    {"mov.pred", &move_predicate},
    {"or.pred", &combine<predicate_or>},
    {"selp.b16", &select<u16>},
    {"selp.b32", &select<u32>},
    {"selp.b64", &select<u64>},
    {"selp.half", &select_half},
    {"set.pred", &set_predicate_constant},
    {"setp.eq.b16", &compare<equal, u16>},
    {"setp.eq.b32", &compare<equal, u32>},
    {"setp.eq.b64", &compare<equal, u64>},
    {"setp.eq.bf16", &compare_half<equal, bfloat, u16>},
    {"setp.eq.bf16x2", &compare_half<equal, bfloat, u32>},
    {"setp.eq.f16", &compare_half<equal, half, u16>},
    {"setp.eq.f16x2", &compare_half<equal, half, u32>},
    {"setp.eq.f32", &compare<equal, float>},
    {"setp.eq.f64", &compare<equal, double>},
    {"setp.eq.ftz.f32", &compare_flushed<equal>},
    {"setp.le.bf16", &compare_half<less_equal, bfloat, u16>},
    {"setp.le.bf16x2", &compare_half<less_equal, bfloat, u32>},
    {"setp.le.f16", &compare_half<less_equal, half, u16>},
    {"setp.le.f16x2", &compare_half<less_equal, half, u32>},
    {"setp.le.f32", &compare<less_equal, float>},
    {"setp.le.f64", &compare<less_equal, double>},
    {"setp.le.ftz.f32", &compare_flushed<less_equal>},
    {"setp.le.s16", &compare<less_equal, i16>},
    {"setp.le.s32", &compare<less_equal, i32>},
    {"setp.le.s64", &compare<less_equal, i64>},
    {"setp.le.u16", &compare<less_equal, u16>},
    {"setp.le.u32", &compare<less_equal, u32>},
    {"setp.le.u64", &compare<less_equal, u64>},
    {"setp.lt.bf16", &compare_half<less, bfloat, u16>},
    {"setp.lt.bf16x2", &compare_half<less, bfloat, u32>},
    {"setp.lt.f16", &compare_half<less, half, u16>},
    {"setp.lt.f16x2", &compare_half<less, half, u32>},
    {"setp.lt.f32", &compare<less, float>},
    {"setp.lt.f64", &compare<less, double>},
    {"setp.lt.ftz.f32", &compare_flushed<less>},
    {"setp.lt.s16", &compare<less, i16>},
    {"setp.lt.s32", &compare<less, i32>},
    {"setp.lt.s64", &compare<less, i64>},
    {"setp.lt.u16", &compare<less, u16>},
    {"setp.lt.u32", &compare<less, u32>},
    {"setp.lt.u64", &compare<less, u64>},
    {"setp.ne.bf16", &compare_half<unequal_numbers, bfloat, u16>},
    {"setp.ne.bf16x2", &compare_half<unequal_numbers, bfloat, u32>},
    {"setp.ne.f16", &compare_half<unequal_numbers, half, u16>},
    {"setp.ne.f16x2", &compare_half<unequal_numbers, half, u32>},
    {"setp.ne.f32", &compare<unequal_numbers, float>},
    {"setp.ne.f64", &compare<unequal_numbers, double>},
    {"setp.ne.ftz.f32", &compare_flushed<unequal_numbers>},
    {"setp.num.bf16", &compare_half<both_numbers, bfloat, u16>},
    {"setp.num.bf16x2", &compare_half<both_numbers, bfloat, u32>},
    {"setp.num.f16", &compare_half<both_numbers, half, u16>},
    {"setp.num.f16x2", &compare_half<both_numbers, half, u32>},
    {"setp.num.f32", &compare<both_numbers, float>},
    {"setp.num.f64", &compare<both_numbers, double>},
    {"setp.num.ftz.f32", &compare_flushed<both_numbers>},
    {"xor.pred", &combine<predicate_xor>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family compare_handlers;
const handler_family compare_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
