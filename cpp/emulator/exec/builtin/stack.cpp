// SPDX-License-Identifier: Apache-2.0
// Each lane has its own end of the frame; the end of the warp's frame is the greatest of them.
#include "emulator/exec/builtin/stack.hpp"

#include "emulator/exec/access.hpp"
#include "emulator/exec/schedule/warp/frame.hpp"

namespace halfwarp::emulator::exec {
namespace {

std::vector<std::uint32_t>& ends_of(frame& f) {
  if (f.stack_ends.empty()) f.stack_ends.assign(warp_size, f.base + f.function->frame_bytes);
  return f.stack_ends;
}

[[noreturn]] void raise(warp& w, const instruction& instr, int lane, std::string detail,
                        std::string hint) {
  report::fault f = describe_fault(w, instr, lane);
  f.kind = report::fault_kind::stack_overflow;
  f.detail = std::move(detail);
  f.hint = std::move(hint);
  throw kernel_fault{f};
}

}  // namespace

void run_alloca(warp& w, const instruction& instr) {
  auto& ends = ends_of(*w.current);
  const auto* sizes = w.at<std::uint64_t>(instr.operand[1]);
  auto* results = w.at<std::uint64_t>(instr.operand[0]);
  const auto alignment = static_cast<std::uint64_t>(instr.immediate);
  const std::uint64_t limit = w.block->launch->stack_bytes;
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    const std::uint64_t first = (ends[lane] + alignment - 1) / alignment * alignment;
    const std::uint64_t bytes = sizes[lane];
    if (first > limit || bytes > limit - first) {
      raise(w, instr, lane,
            "alloca of " + std::to_string(bytes) + " bytes, and the stack of a thread has " +
                std::to_string(limit) + " bytes, " + std::to_string(ends[lane]) + " of them in use",
            "allocate less, or raise CU_LIMIT_STACK_SIZE");
    }
    ends[lane] = static_cast<std::uint32_t>(first + bytes);
    results[lane] = first;
  }
  w.stack_top = stack_end(*w.current);
}

void run_stacksave(warp& w, const instruction& instr) {
  const auto& ends = ends_of(*w.current);
  auto* results = w.at<std::uint64_t>(instr.operand[0]);
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    results[lane] = ends[lane];
  }
}

void run_stackrestore(warp& w, const instruction& instr) {
  auto& ends = ends_of(*w.current);
  const auto* saved = w.at<std::uint64_t>(instr.operand[1]);
  const std::uint64_t least = w.frame_base + w.function->frame_bytes;
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    if (saved[lane] < least || saved[lane] > ends[lane]) {
      raise(w, instr, lane, "stackrestore with a value that stacksave did not return",
            "restore the value of the same function, and only once");
    }
    ends[lane] = static_cast<std::uint32_t>(saved[lane]);
  }
  w.stack_top = stack_end(*w.current);
}

}  // namespace halfwarp::emulator::exec
