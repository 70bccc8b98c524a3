// SPDX-License-Identifier: Apache-2.0
// Functions without a PTX body that kernels call: vprintf, malloc, free, __assertfail,
// cudaGraphSetConditional and the device runtime. Also the trap instruction.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "emulator/exec/code.hpp"
#include "emulator/exec/each_lane.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

struct builtin_function {
  std::string_view name;
  handler run;
  std::array<std::uint32_t, 6> argument_bytes;  // zeros: no more arguments
  std::uint32_t result_bytes;
};

const builtin_function* find_builtin(std::string_view name) noexcept;
bool accepts(const builtin_function& callee, const call_site& site) noexcept;

void run_trap(warp& w, const instruction& instr);
void run_vprintf(warp& w, const instruction& instr);
void run_assertfail(warp& w, const instruction& instr);
void run_malloc(warp& w, const instruction& instr);
void run_free(warp& w, const instruction& instr);
void run_set_conditional(warp& w, const instruction& instr);

// Copies at most `bytes` bytes of argument n of a lane's call.
void copy_builtin_argument(warp& w, const instruction& instr, int lane, std::size_t n, void* to,
                           std::size_t bytes);
// Returns argument n of a lane's call as an integer.
std::uint64_t builtin_argument(warp& w, const instruction& instr, int lane, std::size_t n);
void set_builtin_result(warp& w, const instruction& instr, int lane, std::uint64_t value);
// Returns the place of a call in a kernel, for reports about memory of the heap.
std::string site_of(warp& w, const instruction& instr, int lane);
// Returns a null-terminated string, truncated to `max_bytes` bytes.
std::string read_text(warp& w, int lane, std::uint64_t address, std::size_t max_bytes = 4096);

}  // namespace halfwarp::emulator::exec
