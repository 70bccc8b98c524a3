// SPDX-License-Identifier: Apache-2.0
// cvt.pack: clamps two integers to a narrow type and packs them.
#include <algorithm>
#include <bit>

#include "emulator/exec/scalar/scalar.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

void run_pack(warp& w, const instruction& instr) {
  const auto width = static_cast<int>(instr.immediate);
  const bool is_signed = instr.flags;
  const std::int64_t low = is_signed ? -(std::int64_t{1} << (width - 1)) : 0;
  const std::int64_t high = low + (std::int64_t{1} << width) - 1;
  const std::uint32_t mask = (1u << width) - 1;
  const auto clamped = [&](std::int32_t value) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, low, high)) & mask;
  };
  auto* d = w.at<std::uint32_t>(instr.operand[0]);
  const auto *a = w.at<std::int32_t>(instr.operand[1]), *b = w.at<std::int32_t>(instr.operand[2]);
  const auto* c = w.at<std::uint32_t>(instr.operand[3]);
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    const int l = std::countr_zero(remaining);
    const std::uint32_t upper = width == 16 ? 0 : c[l] << 2 * width;
    d[l] = upper | clamped(a[l]) << width | clamped(b[l]);
  }
}

}  // namespace halfwarp::emulator::exec
