// SPDX-License-Identifier: Apache-2.0
// Extended-precision arithmetic through the carry flag: add.cc, addc, sub.cc, subc, mad.cc, madc.
//
// The flag is the carry out of the adder. Subtraction adds the complement of b, so it sets the
// carry if there is no borrow. Compiled 128-bit division executes addc after sub.cc and depends on
// this.
#include "emulator/exec/lanes/numbers.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

// Reads and writes the carry flag, which is predicate 0 of the warp. The immediate of the
// instruction (carry_use) enables each access.
struct carry_flag {
  lane_mask carry_in, carry_out = 0;

  // `initial` is the incoming carry of an opcode that does not read the flag.
  carry_flag(const warp& w, const instruction& instr, lane_mask initial = 0)
      : carry_in{instr.immediate & carry_use::reads ? w.predicates[0] : initial} {}
  unsigned of(int lane) const { return carry_in >> lane & 1; }
  void set(int lane, bool value) { carry_out |= static_cast<lane_mask>(value) << lane; }
  void store(warp& w, const instruction& instr) const {
    if (instr.immediate & carry_use::writes) set_predicate(w, 0, carry_out);
  }
};

// a + b, or a + ~b + 1
template <class T, bool IsSubtraction>
void add_carry(warp& w, const instruction& instr) {
  carry_flag carry{w, instr, IsSubtraction ? all_lanes : 0};
  T* d = w.at<T>(instr.operand[0]);
  const T *a = w.at<T>(instr.operand[1]), *b = w.at<T>(instr.operand[2]);
  for_active(w, [&](int l) {
    T addend = IsSubtraction ? static_cast<T>(~b[l]) : b[l];
    wide_of<T> sum = static_cast<wide_of<T>>(a[l]) + addend + carry.of(l);
    d[l] = static_cast<T>(sum);
    carry.set(l, sum >> bits_of<T>);
  });
  carry.store(w, instr);
}

// The signedness of T affects the upper half of the product only.
template <class T, bool IsHigh>
void multiply_add_carry(warp& w, const instruction& instr) {
  using U = bits_type<T>;
  carry_flag carry{w, instr};
  U* d = w.at<U>(instr.operand[0]);
  const T *a = w.at<T>(instr.operand[1]), *b = w.at<T>(instr.operand[2]);
  const U* c = w.at<U>(instr.operand[3]);
  for_active(w, [&](int l) {
    wide_of<T> product = static_cast<wide_of<T>>(a[l]) * b[l];
    U half = static_cast<U>(IsHigh ? product >> bits_of<T> : product);
    wide_of<U> sum = static_cast<wide_of<U>>(half) + c[l] + carry.of(l);
    d[l] = static_cast<U>(sum);
    carry.set(l, sum >> bits_of<T>);
  });
  carry.store(w, instr);
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
