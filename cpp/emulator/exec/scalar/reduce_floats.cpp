// SPDX-License-Identifier: Apache-2.0
// redux.sync.{min,max}{.abs}{.NaN}.f32
#include "emulator/exec/each_lane.hpp"
#include "emulator/exec/scalar/float_reduction.hpp"
#include "emulator/exec/scalar/scalar.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t sign = 0x8000'0000, canonical_nan = 0x7fff'ffff;

bool is_nan(std::uint32_t bits) { return (bits & ~sign) > 0x7f80'0000; }

// Returns an integer in the order of the numbers, in which -0 is below +0.
std::uint32_t ordered(std::uint32_t bits) { return bits & sign ? ~bits : bits | sign; }

}  // namespace

void float_reduction::add(std::uint32_t bits) noexcept {
  if (is_absolute_) bits &= ~sign;
  if (is_nan(bits)) {
    has_nan_ = true;
    return;
  }
  const bool is_better =
      is_highest_ ? ordered(bits) > ordered(extreme_) : ordered(bits) < ordered(extreme_);
  if (!has_number_ || is_better) extreme_ = bits;
  has_number_ = true;
}

std::uint32_t float_reduction::result() const noexcept {
  return !has_number_ || (has_nan_ && keeps_nan_) ? canonical_nan : extreme_;
}

void run_reduce_floats(warp& w, const instruction& instr) {
  if (w.step != exchange_step::read) {
    const auto* const values = w.at<std::uint32_t>(instr.operand[1]);
    for_each_lane(w.active, [&](int l) { w.exchange[l] = values[l]; });
  }
  if (w.step == exchange_step::write) return;
  float_reduction numbers{instr.immediate != 0, (instr.flags & float_flag::xorsign_abs) != 0,
                          (instr.flags & float_flag::nan) != 0};
  for_each_lane(w.participants,
                [&](int l) { numbers.add(static_cast<std::uint32_t>(w.exchange[l])); });
  const std::uint32_t result = numbers.result();
  auto* const to = w.at<std::uint32_t>(instr.operand[0]);
  for_each_lane(w.active, [&](int l) { to[l] = result; });
}

}  // namespace halfwarp::emulator::exec
