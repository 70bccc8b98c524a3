// SPDX-License-Identifier: Apache-2.0
// Handlers of rare instructions on one value of each lane. They are compiled once, for any host.
#pragma once

#include <cstdint>

#include "emulator/exec/instruction.hpp"

namespace halfwarp::emulator::exec {

// A format of at most 8 bits. ue8m0 has only an exponent.
enum class small_format : std::int64_t { e4m3, e5m2, e2m3, e3m2, e2m1, ue8m0, f16, bf16, s2f6 };
enum class pair_type : std::uint32_t { f32, f16, bf16 };

// The immediate is a small_format, the target the pair_type of the other side. Operands: d, both
// floats or a pair twice, and two scales.
void run_small_from_pair(warp& w, const instruction& instr);
// cvt.rs: two floats to f16 or bf16, four to smaller formats. Operands: d, random bits, the floats
// from the highest on; the target is the slot of the fourth.
void run_stochastic(warp& w, const instruction& instr);
// Operands: d, a pair of small numbers, and two scales.
void run_pair_from_small(warp& w, const instruction& instr);

enum class tf32_rounding : std::int64_t { to_nearest_away, to_nearest_even, to_zero };
// Rounds the bits of an f32 that is no NaN to nearest even.
constexpr std::uint32_t nearest_tf32(std::uint32_t bits) noexcept {
  return (bits + 0xfff + (bits >> 13 & 1)) & ~std::uint32_t{0x1fff};
}
// The immediate is a tf32_rounding. Operands: d, an f32.
void run_tf32(warp& w, const instruction& instr);

// Distance of the halves of a register of 128 bits.
inline constexpr operand_slot wide_half_bytes = 256;
// atom.{exch,cas}.b128: d, a, b, whether d is written, address. The target is 1 for cas.
void run_wide_atomic(warp& w, const instruction& instr);
// atom.{min,max} of elements of 16 bits: d, a, the scalar_type of an element, whether it is max,
// address. The target is the bytes of d.
void run_half_extreme(warp& w, const instruction& instr);

// The NaN of elements outside of a tensor, two of which make a word [H200].
inline constexpr std::uint16_t outside_nan = 0x7ff7;
// fma.oob: d, a, b. Elements of 16 bits of d become zero where a or b is that NaN with any sign
// [H200]. The immediate is the width of d.
void run_clear_outside(warp& w, const instruction& instr);

// redux of f32: the smallest number, or the largest if the immediate is 1. Operands: d, a, -, -,
// members. Without float_flag::nan, a NaN counts for nothing.
void run_reduce_floats(warp& w, const instruction& instr);

// cvt.pack: d, a, b, c. The immediate is the width of the result; the flags say if it is signed.
void run_pack(warp& w, const instruction& instr);

}  // namespace halfwarp::emulator::exec
