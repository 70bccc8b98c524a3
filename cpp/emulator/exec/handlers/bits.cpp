// SPDX-License-Identifier: Apache-2.0
// Bit operations: logic, shifts, bit fields, counts and byte permutation.
#include "emulator/exec/lanes/operations.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

struct complement {
  template <class T>
  static T of(T a) {
    return static_cast<T>(~a);
  }
};
struct logical_not {
  template <class T>
  static T of(T a) {
    return a == 0;
  }
};

// Combines one term per table bit: bit 4a+2b+c is the result for the bits a, b and c.
void look_up_logic(warp& w, const instruction& instr) {
  u32* d = w.at<u32>(instr.operand[0]);
  const u32 *a = w.at<u32>(instr.operand[1]), *b = w.at<u32>(instr.operand[2]);
  const u32* c = w.at<u32>(instr.operand[3]);
  u32 table[8];
  for (int i = 0; i < 8; ++i) table[i] = instr.immediate >> i & 1 ? ~0u : 0u;
  assign(w, d, [=](int l) {
    u32 x = a[l], y = b[l], z = c[l];
    u32 without_a =
        (~y & ((~z & table[0]) | (z & table[1]))) | (y & ((~z & table[2]) | (z & table[3])));
    u32 with_a =
        (~y & ((~z & table[4]) | (z & table[5]))) | (y & ((~z & table[6]) | (z & table[7])));
    return (~x & without_a) | (x & with_a);
  });
}

// Shift amounts are 32 bits wide and clamp at the register width.
template <class T>
void shift_left(warp& w, const instruction& instr) {
  T* d = w.at<T>(instr.operand[0]);
  const T* a = w.at<T>(instr.operand[1]);
  const u32* b = w.at<u32>(instr.operand[2]);
  assign(w, d, [=](int l) {
    T shifted = static_cast<T>(a[l] << (b[l] & (bits_of<T> - 1)));
    return b[l] < bits_of<T> ? shifted : T(0);
  });
}
template <class T>
void shift_right(warp& w, const instruction& instr) {
  T* d = w.at<T>(instr.operand[0]);
  const T* a = w.at<T>(instr.operand[1]);
  const u32* b = w.at<u32>(instr.operand[2]);
  assign(w, d, [=](int l) {
    T sign_fill = is_signed_type<T> && a[l] < 0 ? T(-1) : T(0);
    T shifted = static_cast<T>(a[l] >> (b[l] & (bits_of<T> - 1)));
    return b[l] < bits_of<T> ? shifted : sign_fill;
  });
}

template <bool IsClamped>
constexpr u32 funnel_amount(u32 amount) {
  return IsClamped ? (amount > 32 ? 32 : amount) : amount & 31;
}
template <bool IsClamped>
struct funnel_left {  // upper half of {b, a} << c
  static u32 of(u32 a, u32 b, u32 c) {
    return static_cast<u32>(((u64{b} << 32 | a) << funnel_amount<IsClamped>(c)) >> 32);
  }
};
template <bool IsClamped>
struct funnel_right {  // lower half of {b, a} >> c
  static u32 of(u32 a, u32 b, u32 c) {
    return static_cast<u32>((u64{b} << 32 | a) >> funnel_amount<IsClamped>(c));
  }
};

// A mask of the low `count` bits, at most all of them.
template <class U>
[[gnu::always_inline]] inline U low_bits(u32 count) {
  constexpr u32 width = bits_of<U>;
  return count < width ? static_cast<U>((U(1) << (count & (width - 1))) - 1)
                       : static_cast<U>(~U(0));
}

// Extracts a bit field. Position and length are the low bytes of 32-bit sources.
template <class T>
[[gnu::always_inline]] inline T extracted(T a, u32 position, u32 length) {
  using U = bits_type<T>;
  constexpr u32 width = bits_of<T>;
  position &= 0xff;
  length &= 0xff;
  bool is_inside = position < width;
  u32 available = is_inside ? width - position : 0;
  u32 count = length < available ? length : available;
  U mask = low_bits<U>(count);
  U field = is_inside ? static_cast<U>(a) >> (position & (width - 1)) : U(0);
  u32 end = position + length < width ? position + length : width;
  bool is_negative = is_signed_type<T> & (length != 0) &
                     static_cast<bool>(static_cast<U>(a) >> ((end - 1) & (width - 1)) & 1);
  U fill = is_negative ? static_cast<U>(~mask) : U(0);
  return static_cast<T>((field & mask) | fill);
}
template <class T>
void extract_field(warp& w, const instruction& instr) {
  T* d = w.at<T>(instr.operand[0]);
  const T* a = w.at<T>(instr.operand[1]);
  const u32 *b = w.at<u32>(instr.operand[2]), *c = w.at<u32>(instr.operand[3]);
  assign(w, d, [=](int l) { return extracted(a[l], b[l], c[l]); });
}

// d = b with a field replaced by the low bits of a.
template <class T>
void insert_field(warp& w, const instruction& instr) {
  constexpr u32 width = bits_of<T>;
  T* d = w.at<T>(instr.operand[0]);
  const T *a = w.at<T>(instr.operand[1]), *b = w.at<T>(instr.operand[2]);
  const u32 *position = w.at<u32>(instr.operand[3]), *length = w.at<u32>(instr.operand[4]);
  assign(w, d, [=](int l) {
    u32 first = position[l] & 0xff, count = length[l] & 0xff;
    u32 shift = first & (width - 1);
    T mask = first < width ? static_cast<T>(low_bits<T>(count) << shift) : T(0);
    return static_cast<T>((b[l] & ~mask) | (static_cast<T>(a[l] << shift) & mask));
  });
}

// Finds the highest bit that differs from the sign, or from 0 if unsigned. Returns all ones if
// none differs.
template <bool IsShift>
struct highest_bit {
  template <class T>
  static u32 of(T a) {
    using U = bits_type<T>;
    U differing = static_cast<U>(is_signed_type<T> && a < 0 ? ~a : a);
    if (differing == 0) return ~0u;
    u32 position = 63 - static_cast<u32>(__builtin_clzll(differing));
    return IsShift ? bits_of<T> - 1 - position : position;
  }
};

struct reversed {
  static u32 of(u32 a) {
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(a);
  }
  static u64 of(u64 a) {
    return u64{of(static_cast<u32>(a))} << 32 | of(static_cast<u32>(a >> 32));
  }
};
struct leading_zeros {
  static u32 of(u32 a) { return a ? static_cast<u32>(__builtin_clz(a)) : 32; }
  static u32 of(u64 a) { return a ? static_cast<u32>(__builtin_clzll(a)) : 64; }
};
struct population {
  static u32 of(u32 a) {
    a -= a >> 1 & 0x55555555u;
    a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
    return ((a + (a >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
  }
  static u32 of(u64 a) { return of(static_cast<u32>(a)) + of(static_cast<u32>(a >> 32)); }
};

// Selects four of the eight bytes of {b, a}. Bit 3 of a selector replicates the byte's sign.
struct byte_permutation {
  static u32 of(u32 a, u32 b, u32 selectors) {
    u64 bytes = u64{b} << 32 | a;
    u32 result = 0;
    for (int i = 0; i < 4; ++i) {
      u32 selector = selectors >> 4 * i & 15;
      u32 byte = static_cast<u32>(bytes >> 8 * (selector & 7)) & 0xff;
      if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
      result |= byte << 8 * i;
    }
    return result;
  }
};

// Selectors of the named modes of prmt for the low two bits of c.
constexpr u32 forward_4[] = {0x3210, 0x4321, 0x5432, 0x6543};
constexpr u32 backward_4[] = {0x5670, 0x6701, 0x7012, 0x0123};
constexpr u32 replicate_8[] = {0x0000, 0x1111, 0x2222, 0x3333};
constexpr u32 edge_left[] = {0x3210, 0x3211, 0x3222, 0x3333};
constexpr u32 edge_right[] = {0x0000, 0x1110, 0x2210, 0x3210};
constexpr u32 replicate_16[] = {0x1010, 0x3232, 0x1010, 0x3232};
template <const u32* Selectors>
struct permutation_mode {
  static u32 of(u32 a, u32 b, u32 c) { return byte_permutation::of(a, b, Selectors[c & 3]); }
};

// Finds the n-th set bit of a from `base` upwards (n > 0) or downwards (n < 0).
struct nth_set_bit {
  static u32 of(u32 a, u32 base, u32 n) {
    i64 offset = static_cast<i32>(n), step = offset < 0 ? -1 : 1;
    if (offset == 0) return base < 32 && (a >> base & 1) ? base : ~0u;
    i64 missing = offset < 0 ? -offset : offset;
    for (i64 i = base; i >= 0 && i < 32; i += step) {
      if ((a >> i & 1) && --missing == 0) return static_cast<u32>(i);
    }
    return ~0u;
  }
};

template <bool IsClamped>
struct mask_of_bits {
  static u32 of(u32 position, u32 length) {
    if (!IsClamped) return static_cast<u32>(((u64{1} << (length & 31)) - 1) << (position & 31));
    if (position >= 32 || length == 0) return 0;
    return static_cast<u32>(((u64{1} << (length > 32 ? 32 : length)) - 1) << position);
  }
};

template <bool IsClamped>
struct sign_extension {
  template <class T>
  static T of(T a, T length) {
    using U = bits_type<T>;
    U n = static_cast<U>(length);
    n = IsClamped ? (n > 32 ? 32 : n) : n & 31;
    if (n == 0) return 0;
    return static_cast<T>(static_cast<T>(static_cast<U>(a) << (32 - n)) >> (32 - n));
  }
};

constexpr handler_entry entries[] = {
    {"and.b16", &binary<conjunction, u16>},
    {"and.b32", &binary<conjunction, u32>},
    {"and.b64", &binary<conjunction, u64>},
    {"bfe.s32", &extract_field<i32>},
    {"bfe.s64", &extract_field<i64>},
    {"bfe.u32", &extract_field<u32>},
    {"bfe.u64", &extract_field<u64>},
    {"bfi.b32", &insert_field<u32>},
    {"bfi.b64", &insert_field<u64>},
    {"bfind.s32", &unary<highest_bit<false>, u32, i32>},
    {"bfind.s64", &unary<highest_bit<false>, u32, i64>},
    {"bfind.shiftamt.s32", &unary<highest_bit<true>, u32, i32>},
    {"bfind.shiftamt.s64", &unary<highest_bit<true>, u32, i64>},
    {"bfind.shiftamt.u32", &unary<highest_bit<true>, u32, u32>},
    {"bfind.shiftamt.u64", &unary<highest_bit<true>, u32, u64>},
    {"bfind.u32", &unary<highest_bit<false>, u32, u32>},
    {"bfind.u64", &unary<highest_bit<false>, u32, u64>},
    {"bmsk.clamp.b32", &binary<mask_of_bits<true>, u32>},
    {"bmsk.wrap.b32", &binary<mask_of_bits<false>, u32>},
    {"brev.b32", &unary<reversed, u32>},
    {"brev.b64", &unary<reversed, u64>},
    {"clz.b32", &unary<leading_zeros, u32>},
    {"clz.b64", &unary<leading_zeros, u32, u64>},
    {"cnot.b16", &unary<logical_not, u16>},
    {"cnot.b32", &unary<logical_not, u32>},
    {"cnot.b64", &unary<logical_not, u64>},
    {"fns.b32", &ternary<nth_set_bit, u32>},
    {"lop3.b32", &look_up_logic},
    {"not.b16", &unary<complement, u16>},
    {"not.b32", &unary<complement, u32>},
    {"not.b64", &unary<complement, u64>},
    {"or.b16", &binary<disjunction, u16>},
    {"or.b32", &binary<disjunction, u32>},
    {"or.b64", &binary<disjunction, u64>},
    {"popc.b32", &unary<population, u32>},
    {"popc.b64", &unary<population, u32, u64>},
    {"prmt.b32", &ternary<byte_permutation, u32>},
    {"prmt.b32.b4e", &ternary<permutation_mode<backward_4>, u32>},
    {"prmt.b32.ecl", &ternary<permutation_mode<edge_left>, u32>},
    {"prmt.b32.ecr", &ternary<permutation_mode<edge_right>, u32>},
    {"prmt.b32.f4e", &ternary<permutation_mode<forward_4>, u32>},
    {"prmt.b32.rc16", &ternary<permutation_mode<replicate_16>, u32>},
    {"prmt.b32.rc8", &ternary<permutation_mode<replicate_8>, u32>},
    {"shf.l.clamp.b32", &ternary<funnel_left<true>, u32>},
    {"shf.l.wrap.b32", &ternary<funnel_left<false>, u32>},
    {"shf.r.clamp.b32", &ternary<funnel_right<true>, u32>},
    {"shf.r.wrap.b32", &ternary<funnel_right<false>, u32>},
    {"shl.b16", &shift_left<u16>},
    {"shl.b32", &shift_left<u32>},
    {"shl.b64", &shift_left<u64>},
    {"shr.b16", &shift_right<u16>},
    {"shr.b32", &shift_right<u32>},
    {"shr.b64", &shift_right<u64>},
    {"shr.s16", &shift_right<i16>},
    {"shr.s32", &shift_right<i32>},
    {"shr.s64", &shift_right<i64>},
    {"szext.clamp.s32", &binary<sign_extension<true>, i32>},
    {"szext.clamp.u32", &binary<sign_extension<true>, u32>},
    {"szext.wrap.s32", &binary<sign_extension<false>, i32>},
    {"szext.wrap.u32", &binary<sign_extension<false>, u32>},
    {"xor.b16", &binary<exclusive_or, u16>},
    {"xor.b32", &binary<exclusive_or, u32>},
    {"xor.b64", &binary<exclusive_or, u64>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family bits_handlers;
const handler_family bits_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
