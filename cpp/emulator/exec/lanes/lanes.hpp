// SPDX-License-Identifier: Apache-2.0
// Loops over the lanes of a warp, written so that the compiler vectorizes them.
//
// Handler files are compiled once per instruction set, each time in a separate namespace.
// Functions that they use must be in that namespace or always inlined. The linker could otherwise
// select the copy for a newer processor for the whole library.
#pragma once

#include <algorithm>
#include <cstdint>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/warp.hpp"

#ifndef HALFWARP_ISA
#define HALFWARP_ISA baseline
#endif

namespace halfwarp::emulator::exec::HALFWARP_ISA {

using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::int8_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

struct lane_bits {
  uint32_t bit[warp_size];
};
constexpr lane_bits make_lane_bits() {
  lane_bits bits{};
  for (int lane = 0; lane < warp_size; ++lane) bits.bit[lane] = 1u << lane;
  return bits;
}
inline constexpr lane_bits lanes = make_lane_bits();

// Sets result[l] = f(l) for active lanes. f must be pure: inactive lanes may evaluate it too.
template <class D, class F>
[[gnu::always_inline]] inline void assign(warp& w, D* result, F f) {
  if (w.active == all_lanes) {
#pragma GCC ivdep
    for (int l = 0; l < warp_size; ++l) result[l] = f(l);
  } else {
    lane_mask active = w.active;
#pragma GCC ivdep
    for (int l = 0; l < warp_size; ++l) {
      D computed = f(l);
      result[l] = (active & lanes.bit[l]) ? computed : result[l];
    }
  }
}

// Calls f(l) for each active lane in ascending order.
template <class F>
[[gnu::always_inline]] inline void for_active(const warp& w, F f) {
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1)
    f(__builtin_ctz(remaining));
}

// Sets the two values in each register, at 2l and 2l+1. f must be pure here too.
template <class D, class F>
[[gnu::always_inline]] inline void assign_packed(warp& w, D* result, F f) {
  lane_mask active = w.active;
  if (active == all_lanes) {
#pragma GCC ivdep
    for (int l = 0; l < 2 * warp_size; ++l) result[l] = f(l);
  } else {
    D computed[2 * warp_size];
#pragma GCC ivdep
    for (int l = 0; l < 2 * warp_size; ++l) computed[l] = f(l);
    for_active(w, [&](int l) { std::copy_n(&computed[2 * l], 2, &result[2 * l]); });
  }
}

// Returns a mask of the lanes for which f(l) is true.
template <class F>
[[gnu::always_inline]] inline lane_mask collect(F f) {
  alignas(64) uint32_t part[warp_size];
#if defined(__AVX512DQ__)
#pragma GCC ivdep
  for (int l = 0; l < warp_size; ++l) part[l] = f(l) ? all_lanes : 0;
  const lane_mask low = _mm512_movepi32_mask(_mm512_load_si512(part));
  return low | static_cast<lane_mask>(_mm512_movepi32_mask(_mm512_load_si512(part + 16))) << 16;
#else
#pragma GCC ivdep
  for (int l = 0; l < warp_size; ++l) part[l] = f(l) ? lanes.bit[l] : 0;
  lane_mask result = 0;
  for (int l = 0; l < warp_size; ++l) result |= part[l];
  return result;
#endif
}

[[gnu::always_inline]] inline void set_predicate(warp& w, operand_slot index, lane_mask value) {
  lane_mask& p = w.predicates[index];
  p = (p & ~w.active) | (value & w.active);
}

// Handlers with the result in operand 0 of type D and sources in operands 1 to 3.
template <class Operation, class D, class S = D>
void unary(warp& w, const instruction& instr) {
  D* d = w.at<D>(instr.operand[0]);
  const S* a = w.at<S>(instr.operand[1]);
  assign(w, d, [=](int l) { return static_cast<D>(Operation::of(a[l])); });
}

template <class Operation, class D, class S = D>
void binary(warp& w, const instruction& instr) {
  D* d = w.at<D>(instr.operand[0]);
  const S* a = w.at<S>(instr.operand[1]);
  const S* b = w.at<S>(instr.operand[2]);
  assign(w, d, [=](int l) { return static_cast<D>(Operation::of(a[l], b[l])); });
}

template <class Operation, class D, class S = D>
void ternary(warp& w, const instruction& instr) {
  D* d = w.at<D>(instr.operand[0]);
  const S* a = w.at<S>(instr.operand[1]);
  const S* b = w.at<S>(instr.operand[2]);
  const D* c = w.at<D>(instr.operand[3]);
  assign(w, d, [=](int l) { return static_cast<D>(Operation::of(a[l], b[l], c[l])); });
}

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
