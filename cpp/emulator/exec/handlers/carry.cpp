// SPDX-License-Identifier: Apache-2.0
// Extended-precision arithmetic through the carry flag: add.cc, addc, sub.cc, subc, mad.cc, madc.
//
// The flag is the carry out of the adder. Subtraction adds the complement of b, so its carry is set
// where nothing was borrowed: addc after sub.cc, as in the division of 128 bits, depends on that.
#include "emulator/exec/lanes/numbers.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

// A sum of lane l with the incoming carry, and where its own carry goes. The flag of the warp is
// predicate 0; immediate says which of the two the spelling has.
struct carry_flag {
  lane_mask in, out = 0;

  // `otherwise`: what comes in where the spelling takes no flag.
  carry_flag(const warp& w, const instruction& in, lane_mask otherwise = 0)
      : in{in.immediate & carry_use::takes ? w.predicates[0] : otherwise} {}
  unsigned of(int lane) const { return in >> lane & 1; }
  void set(int lane, bool value) { out |= static_cast<lane_mask>(value) << lane; }
  void leave(warp& w, const instruction& in) const {
    if (in.immediate & carry_use::gives) set_predicate(w, 0, out);
  }
};

// a + b, or a + ~b + 1
template <class T, bool IsSubtraction>
void add_carry(warp& w, const instruction& in) {
  carry_flag carry{w, in, IsSubtraction ? all_lanes : 0};
  T* d = w.at<T>(in.operand[0]);
  const T *a = w.at<T>(in.operand[1]), *b = w.at<T>(in.operand[2]);
  for_active(w, [&](int l) {
    T addend = IsSubtraction ? static_cast<T>(~b[l]) : b[l];
    wide_of<T> sum = static_cast<wide_of<T>>(a[l]) + addend + carry.of(l);
    d[l] = static_cast<T>(sum);
    carry.set(l, sum >> bits_of<T>);
  });
  carry.leave(w, in);
}

// T is signed or not only for the upper half of the product.
template <class T, bool IsHigh>
void multiply_add_carry(warp& w, const instruction& in) {
  using U = bits_type<T>;
  carry_flag carry{w, in};
  U* d = w.at<U>(in.operand[0]);
  const T *a = w.at<T>(in.operand[1]), *b = w.at<T>(in.operand[2]);
  const U* c = w.at<U>(in.operand[3]);
  for_active(w, [&](int l) {
    wide_of<T> product = static_cast<wide_of<T>>(a[l]) * b[l];
    U half = static_cast<U>(IsHigh ? product >> bits_of<T> : product);
    wide_of<U> sum = static_cast<wide_of<U>>(half) + c[l] + carry.of(l);
    d[l] = static_cast<U>(sum);
    carry.set(l, sum >> bits_of<T>);
  });
  carry.leave(w, in);
}

constexpr handler_entry entries[] = {
    {"carry.add.b32", &add_carry<uint32_t, false>},
    {"carry.add.b64", &add_carry<uint64_t, false>},
    {"carry.mad.hi.s32", &multiply_add_carry<int32_t, true>},
    {"carry.mad.hi.s64", &multiply_add_carry<int64_t, true>},
    {"carry.mad.hi.u32", &multiply_add_carry<uint32_t, true>},
    {"carry.mad.hi.u64", &multiply_add_carry<uint64_t, true>},
    {"carry.mad.lo.b32", &multiply_add_carry<uint32_t, false>},
    {"carry.mad.lo.b64", &multiply_add_carry<uint64_t, false>},
    {"carry.sub.b32", &add_carry<uint32_t, true>},
    {"carry.sub.b64", &add_carry<uint64_t, true>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family carry_handlers;
const handler_family carry_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
