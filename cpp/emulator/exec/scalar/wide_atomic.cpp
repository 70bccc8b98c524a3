// SPDX-License-Identifier: Apache-2.0
// Atomic operations on 16 bytes. Hosts differ in their instructions for it, so a lock is taken.
#include <cstring>
#include <mutex>

#include "emulator/exec/access.hpp"
#include "emulator/exec/scalar/scalar.hpp"

namespace halfwarp::emulator::exec {
namespace {

struct wide_value {
  std::uint64_t low = 0, high = 0;
  bool operator==(const wide_value&) const = default;
};

wide_value value_at(warp& w, operand_slot slot, int lane) {
  return {w.at<std::uint64_t>(slot)[lane], w.at<std::uint64_t>(slot + wide_half_bytes)[lane]};
}

}  // namespace

void run_wide_atomic(warp& w, const instruction& instr) {
  static std::mutex guard;
  const lane_view view = find_lanes(w, instr, w.at<std::uint64_t>(instr.operand[4]),
                                    {report::access_kind::atomic, sizeof(wide_value)});
  const bool compares = instr.target != 0;
  const std::lock_guard lock{guard};
  for (lane_mask lanes = w.active; lanes; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    auto* const cell = reinterpret_cast<std::byte*>(view.address[lane] + view.offset);
    const wide_value operand = value_at(w, instr.operand[1], lane);
    const wide_value stored = compares ? value_at(w, instr.operand[2], lane) : operand;
    wide_value old;
    std::memcpy(&old, cell, sizeof old);
    if (!compares || old == operand) std::memcpy(cell, &stored, sizeof stored);
    if (instr.operand[3] == 0) continue;
    w.at<std::uint64_t>(instr.operand[0])[lane] = old.low;
    w.at<std::uint64_t>(instr.operand[0] + wide_half_bytes)[lane] = old.high;
  }
}

}  // namespace halfwarp::emulator::exec
