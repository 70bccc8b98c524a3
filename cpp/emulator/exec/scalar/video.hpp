// SPDX-License-Identifier: Apache-2.0
// Video instructions: operations on selected bytes and halves of 32-bit registers.
#pragma once

#include <cstdint>

#include "emulator/exec/instruction.hpp"

namespace halfwarp::emulator::exec {

enum class video_operation : std::uint8_t {
  add,
  sub,
  absdiff,
  min,
  max,
  average,
  shift_left,
  shift_right,
  multiply_add,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
};
enum class video_second : std::uint8_t { none, add, min, max, merge };

// The immediate of a video instruction.
struct video_form {
  video_operation operation = video_operation::add;
  video_second second = video_second::none;
  std::uint8_t flags = 0;
  std::uint8_t lanes = 1;  // 1, 2 or 4; a scalar operation has one
  // For each lane of the result, 4 bits: the lane of the pair of operands. Of a scalar operation:
  // the part of the operand, see video_part.
  std::uint16_t a = 0, b = 0;
};
static_assert(sizeof(video_form) == 8);

namespace video_flag {
inline constexpr std::uint8_t signed_result = 1, signed_a = 2, signed_b = 4, saturates = 8;
// Options of vmad, and the wrapping amount of a shift.
inline constexpr std::uint8_t plus_one = 16, negated_product = 32, negated_c = 64, wraps = 128;
}  // namespace video_flag

// A part of a register. The target of the instruction is the part of the result, or the mask.
namespace video_part {
inline constexpr std::uint16_t whole = 0, first_byte = 1, first_half = 5;
}  // namespace video_part

// Operands: d, a, b, c. The flags are the right shift of vmad.
void run_video(warp& w, const instruction& instr);

}  // namespace halfwarp::emulator::exec
