// SPDX-License-Identifier: Apache-2.0
// Atomic operations on 16 bytes, and the least and greatest of halves. Hosts differ in their
// instructions for 16 bytes, so a lock is taken.
#include <cstring>
#include <mutex>

#include "emulator/exec/access.hpp"
#include "emulator/exec/async/bulk_reduce.hpp"
#include "emulator/exec/each_lane.hpp"
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

// Replaces the value of a cell by the result of an operation; returns the previous value.
template <class U>
U update(std::byte* at, U operand, element_operation operation) {
  auto* const cell = reinterpret_cast<U*>(at);
  U old = __atomic_load_n(cell, __ATOMIC_RELAXED), changed;
  do {
    changed = old;
    operation(reinterpret_cast<std::byte*>(&changed), reinterpret_cast<std::byte*>(&operand),
              sizeof(U));
  } while (
      !__atomic_compare_exchange_n(cell, &old, changed, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return old;
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

void run_half_extreme(warp& w, const instruction& instr) {
  const lane_view view = find_lanes(w, instr, w.at<std::uint64_t>(instr.operand[4]),
                                    {report::access_kind::atomic, instr.target});
  const element_operation operation =
      find_reduction(instr.operand[3] ? ptx::qualifier::max : ptx::qualifier::min,
                     static_cast<ptx::scalar_type>(instr.operand[2]));
  for_each_lane(w.active, [&](int lane) {
    auto* const cell = reinterpret_cast<std::byte*>(view.address[lane] + view.offset);
    const auto run = [&]<class U>(U) {
      w.at<U>(instr.operand[0])[lane] = update(cell, w.at<U>(instr.operand[1])[lane], operation);
    };
    instr.target == sizeof(std::uint32_t) ? run(std::uint32_t{}) : run(std::uint16_t{});
  });
}

}  // namespace halfwarp::emulator::exec
