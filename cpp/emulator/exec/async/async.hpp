// SPDX-License-Identifier: Apache-2.0
// Handlers of asynchronous copies and of barriers in shared memory.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "emulator/exec/instruction.hpp"

namespace halfwarp::emulator::exec {

// flags of cp.async: the bytes of a copy, and the meaning of operand 1
namespace copy_flag {
inline constexpr std::uint16_t bytes = 31, has_size = 64, has_predicate = 128;
}  // namespace copy_flag

// A copy that cp.async started and that no wait has completed.
struct pending_copy {
  std::uint32_t group = 0;  // of the thread
  std::uint8_t bytes = 0;   // written; zeros follow the bytes that are read
  std::uint8_t read = 0;
  std::uint64_t to = 0;    // offset in shared memory
  std::uint64_t from = 0;  // host address
};
struct thread_copies {
  std::vector<pending_copy> pending;  // in the order of the text
  std::uint32_t group = 0;            // the open group
};

// Operands: offset in shared memory, size or predicate, -, -, address.
void run_copy(warp& w, const instruction& instr);
void run_commit_copies(warp& w, const instruction& instr);
// The immediate is the number of groups that may be pending; -1: completes open groups too.
void run_wait_copies(warp& w, const instruction& instr);

// cp.async.mbarrier.arrive. Operands and flags: as of run_phase_barrier.
void run_copy_arrive(warp& w, const instruction& instr);

enum class phase_operation : std::int64_t {
  init,
  invalidate,
  arrive,
  arrive_drop,
  expect,
  complete,
  test,
  test_parity,
  pending_count,
  arrive_after_copies,
};

// flags of mbarrier instructions
namespace phase_flag {
inline constexpr std::uint16_t must_not_complete = 1, expects = 2, adds_pending = 4;
}  // namespace phase_flag

// Lowers the pending bytes of a barrier, as a copy that has ended does.
void complete_bytes(std::byte* barrier, std::uint32_t bytes);
// Arrives once at a barrier, as cp.async.mbarrier.arrive does when the copies have ended.
void complete_arrival(std::byte* barrier);
void raise_pending(std::byte* barrier);

inline constexpr operand_slot no_result = std::numeric_limits<operand_slot>::max();

// Operands: result or no_result, count, bytes, token or parity, -, -, offset in shared memory. The
// immediate is a phase_operation.
void run_phase_barrier(warp& w, const instruction& instr);

}  // namespace halfwarp::emulator::exec
