// SPDX-License-Identifier: Apache-2.0
// A decoded instruction, the unit that the interpreter's loop executes.
#pragma once

#include <array>
#include <cstdint>

namespace halfwarp::emulator::exec {

struct warp;
struct instruction;

// Executes one instruction for the lanes of warp::active. Throws kernel_fault.
using handler = void (*)(warp&, const instruction&);

// Selects what the scheduler does. Every kind but `next` interrupts straight-line code.
enum class flow : std::uint8_t {
  next,     // run the handler, then the next instruction
  branch,   // target: index of an instruction
  call,     // target: index in function_code::calls
  builtin,  // target: index in function_code::calls; run the handler, continue
  ret,
  exit,
  barrier,     // immediate: barrier_operation; see schedule/barrier.hpp
  collective,  // operand `members`: lanes that execute together
  yield,       // run the handler, then let other warps run
};

inline constexpr std::int32_t no_predicate = -1;

// Locates an operand: a non-negative byte offset in the registers of the frame, or the bitwise
// complement of a byte offset in the constants of the function. Both store 32 consecutive lanes,
// so handlers treat them alike. Predicate operands are indices of predicates.
using operand_slot = std::int32_t;

struct instruction {
  handler run = nullptr;
  std::array<operand_slot, 5> operand{};  // destination first; see each handler
  std::int32_t guard = no_predicate;
  std::uint32_t guard_flip = 0;  // all ones for @!p
  // Tuned code uses the next three, see decode/tuning.hpp.
  bool is_plain = false;       // needs no attention and has no guard
  std::uint8_t width = 1;      // distance to the next instruction that must run
  std::uint8_t shape = 0;      // index in warp::shapes
  std::int64_t immediate = 0;  // byte offset of an access; else by handler
  std::uint32_t target = 0;    // by flow; else an additional operand, by handler
  std::uint32_t cache = 0;     // of memory accesses: index of the range cache
  std::uint32_t source = 0;    // index in ptx::function::instructions
  std::uint16_t flags = 0;     // by handler
  flow kind = flow::next;
  bool needs_attention = false;  // starts a basic block, or kind is not `next`
};
static_assert(sizeof(instruction) == 64, "one cache line");

// flags of floating-point instructions
namespace float_flag {
inline constexpr std::uint16_t rounding = 3;  // mask: 0 nearest even, 1 zero, 2 down, 3 up
inline constexpr std::uint16_t ftz = 4, sat = 8, relu = 16, nan = 32, xorsign_abs = 64;
inline constexpr std::uint16_t satfinite = 128, approx = 256;
}  // namespace float_flag

// immediate of carry.* instructions: the accesses of the carry flag that the opcode makes
namespace carry_use {
inline constexpr std::int64_t reads = 1, writes = 2;
}  // namespace carry_use

// flags of memory instructions
namespace access_flag {
inline constexpr std::uint16_t count = 15;           // mask: elements of a vector access
inline constexpr std::uint16_t frame_relative = 16;  // local: offset from the frame's first byte
inline constexpr std::uint16_t global_only = 32;     // the instruction has .global or .const
}  // namespace access_flag

}  // namespace halfwarp::emulator::exec
