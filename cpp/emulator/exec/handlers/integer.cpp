// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic: add, sub, mul, mad, mul24, div, rem, neg, abs, min, max, sad.
#include "emulator/exec/lanes/operations.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

// Widens 16-bit operands to u32, because their promotion to int makes overflow undefined.
constexpr u32 wrapping(u16 value) { return value; }
constexpr u32 wrapping(u32 value) { return value; }
constexpr u64 wrapping(u64 value) { return value; }

struct addition {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(wrapping(a) + wrapping(b));
  }
};
struct subtraction {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(wrapping(a) - wrapping(b));
  }
};
struct negation {
  template <class T>
  static T of(T a) {
    return static_cast<T>(0 - wrapping(a));
  }
};
struct product_low {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(wrapping(a) * wrapping(b));
  }
  template <class T>
  static T of(T a, T b, T c) {
    return static_cast<T>(wrapping(a) * wrapping(b) + wrapping(c));
  }
};
struct product_high {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((static_cast<wide_of<T>>(a) * b) >> bits_of<T>);
  }
  template <class T>
  static T of(T a, T b, T c) {
    using U = bits_type<T>;
    return static_cast<T>(static_cast<U>(of(a, b)) + static_cast<U>(c));
  }
};
struct product_wide {
  template <class S>
  static wide_of<S> of(S a, S b) {
    return static_cast<wide_of<S>>(a) * b;
  }
  template <class S>
  static wide_of<S> of(S a, S b, wide_of<S> c) {
    using U = bits_type<wide_of<S>>;
    return static_cast<wide_of<S>>(static_cast<U>(of(a, b)) + static_cast<U>(c));
  }
};

constexpr i32 saturated(i64 value) {
  return value < lowest_of<i32>    ? lowest_of<i32>
         : value > highest_of<i32> ? highest_of<i32>
                                   : static_cast<i32>(value);
}
struct saturating_addition {
  static i32 of(i32 a, i32 b) { return saturated(i64{a} + b); }
};
struct saturating_subtraction {
  static i32 of(i32 a, i32 b) { return saturated(i64{a} - b); }
};
struct saturating_product_high {
  static i32 of(i32 a, i32 b, i32 c) { return saturated(i64{product_high::of(a, b)} + c); }
};

// Returns the low 24 bits of a source, sign-extended if T is signed.
template <class T>
constexpr wide_of<T> low24(T value) {
  return static_cast<T>(static_cast<u32>(value) << 8) >> 8;
}
template <bool IsHigh>
struct product24 {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((low24(a) * low24(b)) >> (IsHigh ? 16 : 0));
  }
  template <class T>
  static T of(T a, T b, T c) {
    return static_cast<T>(static_cast<u32>(of(a, b)) + static_cast<u32>(c));
  }
};
struct saturating_product24_high {
  static i32 of(i32 a, i32 b, i32 c) { return saturated(i64{product24<true>::of(a, b)} + c); }
};

// Division by zero returns all ones. The lowest value divided by -1 wraps.
template <class T>
constexpr bool overflows([[maybe_unused]] T a, T b) {
  if constexpr (is_signed_type<T>) return a == lowest_of<T> && b == T(-1);
  return false;
}
struct quotient {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    return overflows(a, b) ? a : static_cast<T>(a / b);
  }
};
struct remainder {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return a;
    return overflows(a, b) ? T(0) : static_cast<T>(a % b);
  }
};
struct magnitude {
  template <class T>
  static T of(T a) {
    return a < 0 ? static_cast<T>(0 - wrapping(static_cast<bits_type<T>>(a))) : a;
  }
};
template <class Chosen>
struct not_negative {
  template <class T>
  static T of(T a, T b) {
    T chosen = Chosen::of(a, b);
    return chosen < 0 ? T(0) : chosen;
  }
};
struct absolute_difference {
  template <class T>
  static T of(T a, T b, T c) {
    using U = bits_type<T>;
    U difference = a < b ? static_cast<U>(static_cast<U>(b) - static_cast<U>(a))
                         : static_cast<U>(static_cast<U>(a) - static_cast<U>(b));
    return static_cast<T>(difference + static_cast<U>(c));
  }
};

// Adds c and the products of the bytes of a and b. A sign is 0x80 for signed bytes, else 0: flipped
// and subtracted, it extends a byte.
void add_products_of_bytes(warp& w, const instruction& instr, i32 sign_a, i32 sign_b) {
  u32* d = w.at<u32>(instr.operand[0]);
  const u32 *a = w.at<u32>(instr.operand[1]), *b = w.at<u32>(instr.operand[2]);
  const u32* c = w.at<u32>(instr.operand[3]);
  assign(w, d, [=](int l) {
    auto product = [&](int bit) {
      i32 x = (static_cast<i32>(a[l] >> bit & 0xff) ^ sign_a) - sign_a;
      i32 y = (static_cast<i32>(b[l] >> bit & 0xff) ^ sign_b) - sign_b;
      return static_cast<u32>(x * y);
    };
    return c[l] + product(0) + product(8) + product(16) + product(24);
  });
}
template <class A, class B>
void dot_of_bytes(warp& w, const instruction& instr) {
  add_products_of_bytes(w, instr, is_signed_type<A> ? 0x80 : 0, is_signed_type<B> ? 0x80 : 0);
}
// Adds c and the products of the halves of a and two bytes of b.
// The immediate is the first bit of b: 0 for .lo, 16 for .hi.
template <class A, class B>
void dot_of_halves(warp& w, const instruction& instr) {
  u32* d = w.at<u32>(instr.operand[0]);
  const u32 *a = w.at<u32>(instr.operand[1]), *b = w.at<u32>(instr.operand[2]);
  const u32* c = w.at<u32>(instr.operand[3]);
  const u32 first = static_cast<u32>(instr.immediate);
  assign(w, d, [=](int l) {
    u32 bytes = b[l] >> first;
    i32 low = static_cast<A>(a[l]) * static_cast<B>(bytes);
    i32 high = static_cast<A>(a[l] >> 16) * static_cast<B>(bytes >> 8);
    return c[l] + static_cast<u32>(low) + static_cast<u32>(high);
  });
}

template <class Operation, class T>
void packed_binary(warp& w, const instruction& instr) {
  T* d = w.at<T>(instr.operand[0]);
  const T *a = w.at<T>(instr.operand[1]), *b = w.at<T>(instr.operand[2]);
  assign_packed(w, d, [=](int l) { return Operation::of(a[l], b[l]); });
}

constexpr handler_entry entries[] = {
    {"abs.s16", &unary<magnitude, i16>},
    {"abs.s32", &unary<magnitude, i32>},
    {"abs.s64", &unary<magnitude, i64>},
    {"add.b16", &binary<addition, u16>},
    {"add.b32", &binary<addition, u32>},
    {"add.b64", &binary<addition, u64>},
    {"add.s16x2", &packed_binary<addition, u16>},
    {"add.sat.s32", &binary<saturating_addition, i32>},
    {"add.u16x2", &packed_binary<addition, u16>},
    {"div.s16", &binary<quotient, i16>},
    {"div.s32", &binary<quotient, i32>},
    {"div.s64", &binary<quotient, i64>},
    {"div.u16", &binary<quotient, u16>},
    {"div.u32", &binary<quotient, u32>},
    {"div.u64", &binary<quotient, u64>},
    {"dp2a.s32.s32", &dot_of_halves<i16, i8>},
    {"dp2a.s32.u32", &dot_of_halves<i16, u8>},
    {"dp2a.u32.s32", &dot_of_halves<u16, i8>},
    {"dp2a.u32.u32", &dot_of_halves<u16, u8>},
    {"dp4a.s32.s32", &dot_of_bytes<i8, i8>},
    {"dp4a.s32.u32", &dot_of_bytes<i8, u8>},
    {"dp4a.u32.s32", &dot_of_bytes<u8, i8>},
    {"dp4a.u32.u32", &dot_of_bytes<u8, u8>},
    {"mad.hi.s16", &ternary<product_high, i16>},
    {"mad.hi.s32", &ternary<product_high, i32>},
    {"mad.hi.s64", &ternary<product_high, i64>},
    {"mad.hi.sat.s32", &ternary<saturating_product_high, i32>},
    {"mad.hi.u16", &ternary<product_high, u16>},
    {"mad.hi.u32", &ternary<product_high, u32>},
    {"mad.hi.u64", &ternary<product_high, u64>},
    {"mad.lo.b16", &ternary<product_low, u16>},
    {"mad.lo.b32", &ternary<product_low, u32>},
    {"mad.lo.b64", &ternary<product_low, u64>},
    {"mad.wide.s16", &ternary<product_wide, i32, i16>},
    {"mad.wide.s32", &ternary<product_wide, i64, i32>},
    {"mad.wide.u16", &ternary<product_wide, u32, u16>},
    {"mad.wide.u32", &ternary<product_wide, u64, u32>},
    {"mad24.hi.s32", &ternary<product24<true>, i32>},
    {"mad24.hi.sat.s32", &ternary<saturating_product24_high, i32>},
    {"mad24.hi.u32", &ternary<product24<true>, u32>},
    {"mad24.lo.s32", &ternary<product24<false>, i32>},
    {"mad24.lo.u32", &ternary<product24<false>, u32>},
    {"max.relu.s16x2", &packed_binary<not_negative<maximum>, i16>},
    {"max.relu.s32", &binary<not_negative<maximum>, i32>},
    {"max.s16", &binary<maximum, i16>},
    {"max.s16x2", &packed_binary<maximum, i16>},
    {"max.s32", &binary<maximum, i32>},
    {"max.s64", &binary<maximum, i64>},
    {"max.u16", &binary<maximum, u16>},
    {"max.u16x2", &packed_binary<maximum, u16>},
    {"max.u32", &binary<maximum, u32>},
    {"max.u64", &binary<maximum, u64>},
    {"min.relu.s16x2", &packed_binary<not_negative<minimum>, i16>},
    {"min.relu.s32", &binary<not_negative<minimum>, i32>},
    {"min.s16", &binary<minimum, i16>},
    {"min.s16x2", &packed_binary<minimum, i16>},
    {"min.s32", &binary<minimum, i32>},
    {"min.s64", &binary<minimum, i64>},
    {"min.u16", &binary<minimum, u16>},
    {"min.u16x2", &packed_binary<minimum, u16>},
    {"min.u32", &binary<minimum, u32>},
    {"min.u64", &binary<minimum, u64>},
    {"mul.hi.s16", &binary<product_high, i16>},
    {"mul.hi.s32", &binary<product_high, i32>},
    {"mul.hi.s64", &binary<product_high, i64>},
    {"mul.hi.u16", &binary<product_high, u16>},
    {"mul.hi.u32", &binary<product_high, u32>},
    {"mul.hi.u64", &binary<product_high, u64>},
    {"mul.lo.b16", &binary<product_low, u16>},
    {"mul.lo.b32", &binary<product_low, u32>},
    {"mul.lo.b64", &binary<product_low, u64>},
    {"mul.wide.s16", &binary<product_wide, i32, i16>},
    {"mul.wide.s32", &binary<product_wide, i64, i32>},
    {"mul.wide.u16", &binary<product_wide, u32, u16>},
    {"mul.wide.u32", &binary<product_wide, u64, u32>},
    {"mul24.hi.s32", &binary<product24<true>, i32>},
    {"mul24.hi.u32", &binary<product24<true>, u32>},
    {"mul24.lo.s32", &binary<product24<false>, i32>},
    {"mul24.lo.u32", &binary<product24<false>, u32>},
    {"neg.s16", &unary<negation, u16>},
    {"neg.s32", &unary<negation, u32>},
    {"neg.s64", &unary<negation, u64>},
    {"rem.s16", &binary<remainder, i16>},
    {"rem.s32", &binary<remainder, i32>},
    {"rem.s64", &binary<remainder, i64>},
    {"rem.u16", &binary<remainder, u16>},
    {"rem.u32", &binary<remainder, u32>},
    {"rem.u64", &binary<remainder, u64>},
    {"sad.s16", &ternary<absolute_difference, i16>},
    {"sad.s32", &ternary<absolute_difference, i32>},
    {"sad.s64", &ternary<absolute_difference, i64>},
    {"sad.u16", &ternary<absolute_difference, u16>},
    {"sad.u32", &ternary<absolute_difference, u32>},
    {"sad.u64", &ternary<absolute_difference, u64>},
    {"sub.b16", &binary<subtraction, u16>},
    {"sub.b32", &binary<subtraction, u32>},
    {"sub.b64", &binary<subtraction, u64>},
    {"sub.sat.s32", &binary<saturating_subtraction, i32>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family integer_handlers;
const handler_family integer_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
