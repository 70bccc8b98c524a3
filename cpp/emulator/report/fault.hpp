// SPDX-License-Identifier: Apache-2.0
// A fault of a kernel or a misuse by the host, as a record and as text.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/memory/allocation.hpp"

namespace halfwarp::emulator::report {

enum class fault_kind : std::uint8_t {
  out_of_bounds,
  use_after_free,
  unmapped,
  wrong_device,
  host_memory,
  stream_order,
  read_only,
  misaligned,
  wrong_space,
  stack_overflow,
  device_assert,
  trap,
  bad_call_target,
  divergent_barrier,
  member_mask,
  invalid_operand,  // an operand of a matrix instruction
  tensor_memory,    // an instruction broke a rule of tensor memory
  deadlock,
  lock_cycle,
  step_limit,
  destroyed_handle,  // a call received the handle of a destroyed object
  destroyed_in_use,  // an object was destroyed while another thread was in a call with it
  double_free,
  freed_memory,   // a call received the address of freed memory
  not_supported,  // an instruction that is not emulated; detected by the launch
  interrupted,    // SIGINT while the program waited for the kernel
  invalid_free,   // a kernel called free with an address that is no block of the heap
  race,           // two threads accessed the same bytes without order between them
  uninitialized,  // the program used bytes that nobody wrote
  async_copy,     // an access to the target of an asynchronous copy before the wait
  barrier,        // threads used a barrier or a mask of lanes wrongly
  hazard,         // two operations touched the same bytes without order between them
  neighbor,       // an access landed in another object than that of its pointer
};

std::string_view name(fault_kind kind) noexcept;  // "out-of-bounds", ...
CUresult code(fault_kind kind) noexcept;
bool is_sticky(fault_kind kind) noexcept;
// Returns whether the host misused a destroyed object or freed memory; `detail` is complete.
bool is_of_lifetime(fault_kind kind) noexcept;
// Returns whether a check found a mistake in a launch that ended normally.
bool is_finding(fault_kind kind) noexcept;

enum class access_kind : std::uint8_t { none, load, store, atomic };
std::string_view name(access_kind kind) noexcept;

enum class memory_space : std::uint8_t { generic, global, shared, local, constant, parameter };

// The first of two accesses that race.
struct earlier_access {
  access_kind access = access_kind::none;
  std::array<std::uint32_t, 3> block_index{}, thread{};
  std::uint32_t ptx_line = 0;
  std::string source_file;
  std::uint32_t source_line = 0;
  std::string instruction;
  // The address in global memory of unwritten bytes that the access copied, or 0.
  std::uint64_t unwritten = 0;
};

struct fault {
  fault_kind kind = fault_kind::trap;
  access_kind access = access_kind::none;
  memory_space space = memory_space::generic;
  std::uint32_t bytes = 0;    // width of the access of one thread
  std::uint64_t address = 0;  // in shared and local memory: offset from the start of the space
  std::string kernel;         // the name in the PTX; demangled in texts
  int device = 0;
  std::uint64_t stream = 0;
  std::array<std::uint32_t, 3> grid{}, block{};          // sizes in blocks, in threads
  std::array<std::uint32_t, 3> block_index{}, thread{};  // the first thread with the fault
  std::uint32_t other_threads = 0;  // threads of the same warp instruction with the same fault
  std::uint32_t ptx_line = 0;
  std::string source_file;        // empty: unknown, or not on this machine
  std::uint32_t source_line = 0;  // 0: unknown
  std::string instruction;        // PTX text
  std::optional<memory::allocation> nearest;
  std::string detail;  // one phrase: the distance to the allocation, the assertion ...
  std::string hint;    // advice in one phrase; may be empty
  std::uint64_t seed = 0;
  std::optional<earlier_access> earlier;  // of a race
  std::uint64_t count = 1;                // how often a check found the same mistake
  std::uint64_t unwritten = 0;  // address of a byte in global memory that nobody wrote, or 0
  std::string history;          // lines: how unwritten bytes came here, who wrote their neighbors
};

// Returns "saxpy(float, float*)" for "_Z5saxpyfPf"; other names are unchanged.
std::string demangled(const std::string& name);
// Formats a value as 0x7f8675bd0b00.
std::string hexadecimal(std::uint64_t value);
// Formats three numbers as "(0,1,0)".
std::string triple(const std::array<std::uint32_t, 3>& v);
// Returns the place as "file.cu:3, PTX line 17".
std::string place_text(const fault& f);
// Returns the position of the address relative to the nearest allocation.
std::string allocation_text(const fault& f);
// Returns who did something: "a copy at a.py:3 copied", or the kernel with its thread and place.
std::string writer_text(const std::string& title, const earlier_access& by, std::string_view verb);
// Returns the lines of a report about bytes that a writer carried on.
std::string origin_lines(const fault& memory, const std::string& writer);
// Returns one line: kind, access, address, kernel, block, thread, place and detail.
std::string first_line(const fault& f);
// The hint for an access to graph memory while it is not allocated.
inline constexpr std::string_view hint_for_graph_memory =
    "the address is graph memory, allocated between its allocation node and its free node: "
    "order the access between the two";
// Returns the whole report: several lines, each terminated by a newline.
std::string full_text(const fault& f);

}  // namespace halfwarp::emulator::report
