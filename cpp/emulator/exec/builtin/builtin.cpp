// SPDX-License-Identifier: Apache-2.0
// The table of built-in functions; assertions and traps.
#include "emulator/exec/builtin/builtin.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/builtin/device_runtime.hpp"
#include "emulator/exec/check/init/init_checker.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr builtin_function builtins[] = {
    {"__assertfail", &run_assertfail, {8, 8, 4, 8, 8}, 0},
    {"cudaGraphSetConditional", &run_set_conditional, {8, 4}, 0},
    {"free", &run_free, {8}, 0},
    {"malloc", &run_malloc, {8}, 8},
    {"vprintf", &run_vprintf, {8, 8}, 4},
};

[[noreturn]] void raise(warp& w, const instruction& instr, report::fault_kind kind,
                        std::string detail, std::string hint) {
  report::fault f = describe_fault(w, instr, __builtin_ctz(w.active));
  f.kind = kind;
  f.other_threads = lanes_in(w.active) - 1;
  f.detail = std::move(detail);
  f.hint = std::move(hint);
  throw kernel_fault{f};
}

// Raises the fault of one lane among the lanes of a call.
[[noreturn]] void raise_for_lane(warp& w, const instruction& instr, int lane, std::string detail) {
  report::fault f = describe_fault(w, instr, lane);
  f.kind = report::fault_kind::unmapped;
  f.detail = "cudaGraphSetConditional received " + std::move(detail);
  f.hint =
      "create handles with cuGraphConditionalHandleCreate, and set them in kernels of their "
      "context";
  throw kernel_fault{f};
}

}  // namespace

const builtin_function* find_builtin(std::string_view name) noexcept {
  for (const builtin_function& b : builtins) {
    if (b.name == name) return &b;
  }
  return find_device_runtime(name);
}

bool accepts(const builtin_function& callee, const call_site& site) noexcept {
  std::array<std::uint32_t, 6> sizes{};
  if (site.arguments.size() > sizes.size()) return false;
  for (std::size_t i = 0; i < site.arguments.size(); ++i) sizes[i] = site.arguments[i].bytes;
  bool has_result = callee.result_bytes != 0;
  if (site.results.size() != has_result || sizes != callee.argument_bytes) return false;
  return !has_result || site.results[0].bytes == callee.result_bytes;
}

void copy_builtin_argument(warp& w, const instruction& instr, int lane, std::size_t n, void* to,
                           std::size_t bytes) {
  const parameter_copy& p = w.function->calls[instr.target].arguments.at(n);
  const std::byte* from = nullptr;
  if (p.from_place == parameter_copy::place::memory) {
    from = w.local + static_cast<std::size_t>(lane) * w.local_stride + w.frame_base + p.from;
  } else {
    from = w.at<std::byte>(p.from) + static_cast<std::size_t>(lane) * p.bytes;
  }
  std::memcpy(to, from, std::min<std::size_t>(p.bytes, bytes));
}

std::uint64_t builtin_argument(warp& w, const instruction& instr, int lane, std::size_t n) {
  std::uint64_t value = 0;
  copy_builtin_argument(w, instr, lane, n, &value, sizeof value);
  return value;
}

void set_builtin_result(warp& w, const instruction& instr, int lane, std::uint64_t value) {
  for (const parameter_copy& p : w.function->calls[instr.target].results) {
    std::byte* to =
        p.to_place == parameter_copy::place::memory
            ? w.local + static_cast<std::size_t>(lane) * w.local_stride + w.frame_base + p.to
            : w.at<std::byte>(p.to) + static_cast<std::size_t>(lane) * p.bytes;
    std::memcpy(to, &value, std::min<std::size_t>(sizeof value, p.bytes));
    if (auto* definedness = w.block->launch->definedness) {
      const bool is_memory = p.to_place == parameter_copy::place::memory;
      definedness->define_result(w, {w.current, is_memory, p.to}, p.bytes, lane);
    }
  }
}

std::string read_text(warp& w, int lane, std::uint64_t address, std::size_t max_bytes) {
  std::string text;
  for (char c; text.size() < max_bytes && read_generic(w, lane, address, &c, 1) && c; ++address) {
    text.push_back(c);
  }
  return text;
}

void run_trap(warp& w, const instruction& instr) {
  raise(w, instr, report::fault_kind::trap, "the kernel executed a trap instruction",
        "look for __trap(), or for code that the compiler proved to be unreachable");
}

// cudaGraphSetConditional(handle, value): the highest lane writes last
void run_set_conditional(warp& w, const instruction& instr) {
  const auto& set = w.block->launch->options.set_conditional;
  if (!set) return;
  for (int lane = 0; lane < warp_size; ++lane) {
    if (!(w.active >> lane & 1)) continue;
    const auto value = static_cast<std::uint32_t>(builtin_argument(w, instr, lane, 1));
    auto problem = set(builtin_argument(w, instr, lane, 0), value);
    if (!problem.empty()) raise_for_lane(w, instr, lane, std::move(problem));
  }
}

// __assertfail(message, file, line, function, char size). Each thread prints the line that a device
// prints.
void run_assertfail(warp& w, const instruction& instr) {
  const auto text = [&](int lane, std::size_t n) {
    return read_text(w, lane, builtin_argument(w, instr, lane, n));
  };
  const auto axes = [](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return "[" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + "]";
  };
  const auto& block = w.block->index;
  std::string start, end, lines;
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    const auto line = static_cast<std::uint32_t>(builtin_argument(w, instr, lane, 2));
    start = text(lane, 1) + ":" + std::to_string(line) + ": " + text(lane, 3) + ": ";
    end = "Assertion `" + text(lane, 0) + "` failed";
    lines += start + "block: " + axes(block[0], block[1], block[2]) +
             ", thread: " + axes(w.thread[0][lane], w.thread[1][lane], w.thread[2][lane]) + " " +
             end + ".\n";
  }
  std::fputs(lines.c_str(), stderr);
  raise(w, instr, report::fault_kind::device_assert, start + end, "");
}

}  // namespace halfwarp::emulator::exec
