// SPDX-License-Identifier: Apache-2.0
// Moves registers, packs and unpacks vectors, extends and truncates values.
#include "emulator/exec/lanes/numbers.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

struct identity {
  template <class T>
  static T of(T a) {
    return a;
  }
};

// Packs operands 1 and up into operand 0, lowest part first.
template <class D, class S>
void pack(warp& w, const instruction& instr) {
  constexpr int parts = sizeof(D) / sizeof(S);
  D* d = w.at<D>(instr.operand[0]);
  const S *a = w.at<S>(instr.operand[1]), *b = w.at<S>(instr.operand[2]);
  if constexpr (parts == 2) {
    assign(w, d, [=](int l) { return static_cast<D>(a[l] | static_cast<D>(b[l]) << bits_of<S>); });
  } else {
    const S *c = w.at<S>(instr.operand[3]), *e = w.at<S>(instr.operand[4]);
    assign(w, d, [=](int l) {
      return static_cast<D>(static_cast<D>(a[l]) | static_cast<D>(b[l]) << bits_of<S> |
                            static_cast<D>(c[l]) << 2 * bits_of<S> |
                            static_cast<D>(e[l]) << 3 * bits_of<S>);
    });
  }
}

// Unpacks operand 0 into operands 1 and up, lowest part first. A destination may be the source
// register.
template <class D, class S>
void unpack(warp& w, const instruction& instr) {
  constexpr int parts = sizeof(S) / sizeof(D);
  alignas(64) S source[warp_size];
  const S* a = w.at<S>(instr.operand[0]);
  for (int l = 0; l < warp_size; ++l) source[l] = a[l];
  for (int part = 0; part < parts; ++part) {
    int shift = part * bits_of<D>;
    assign(w, w.at<D>(instr.operand[1 + part]),
           [&, shift](int l) { return static_cast<D>(source[l] >> shift); });
  }
}

constexpr handler_entry entries[] = {
    {"extend.s16.b32", &unary<identity, i32, i16>},
    {"extend.s16.b64", &unary<identity, i64, i16>},
    {"extend.s32.b64", &unary<identity, i64, i32>},
    {"extend.s8.b16", &unary<identity, i16, i8>},
    {"extend.s8.b32", &unary<identity, i32, i8>},
    {"extend.s8.b64", &unary<identity, i64, i8>},
    {"extend.u16.b32", &unary<identity, u32, u16>},
    {"extend.u16.b64", &unary<identity, u64, u16>},
    {"extend.u32.b64", &unary<identity, u64, u32>},
    {"extend.u8.b16", &unary<identity, u16, u8>},
    {"extend.u8.b32", &unary<identity, u32, u8>},
    {"extend.u8.b64", &unary<identity, u64, u8>},
    {"mov.b16", &unary<identity, u16>},
    {"mov.b32", &unary<identity, u32>},
    {"mov.b64", &unary<identity, u64>},
    {"mov.b8", &unary<identity, u8>},
    {"pack.b16.b32", &pack<u32, u16>},
    {"pack.b16.b64", &pack<u64, u16>},
    {"pack.b32.b64", &pack<u64, u32>},
    {"pack.b8.b16", &pack<u16, u8>},
    {"pack.b8.b32", &pack<u32, u8>},
    {"truncate.b16.b8", &unary<identity, u8, u16>},
    {"truncate.b32.b16", &unary<identity, u16, u32>},
    {"truncate.b32.b8", &unary<identity, u8, u32>},
    {"truncate.b64.b16", &unary<identity, u16, u64>},
    {"truncate.b64.b32", &unary<identity, u32, u64>},
    {"truncate.b64.b8", &unary<identity, u8, u64>},
    {"unpack.b16.b8", &unpack<u8, u16>},
    {"unpack.b32.b16", &unpack<u16, u32>},
    {"unpack.b32.b8", &unpack<u8, u32>},
    {"unpack.b64.b16", &unpack<u16, u64>},
    {"unpack.b64.b32", &unpack<u32, u64>},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family move_handlers;
const handler_family move_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
