// SPDX-License-Identifier: Apache-2.0
// redux.sync.{min,max}{.abs}{.NaN}.f32
#include "emulator/exec/each_lane.hpp"
#include "emulator/exec/scalar/scalar.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t sign = 0x8000'0000, canonical_nan = 0x7fff'ffff;

bool is_nan(std::uint32_t bits) { return (bits & ~sign) > 0x7f80'0000; }

// Returns an integer in the order of the numbers, in which -0 is below +0.
std::uint32_t ordered(std::uint32_t bits) { return bits & sign ? ~bits : bits | sign; }

}  // namespace

void run_reduce_floats(warp& w, const instruction& instr) {
  if (w.step != exchange_step::read) {
    const auto* const values = w.at<std::uint32_t>(instr.operand[1]);
    for_each_lane(w.active, [&](int l) { w.exchange[l] = values[l]; });
  }
  if (w.step == exchange_step::write) return;
  const bool is_absolute = instr.flags & float_flag::xorsign_abs, is_highest = instr.immediate;
  bool has_nan = false, has_number = false;
  std::uint32_t result = canonical_nan;
  for_each_lane(w.participants, [&](int l) {
    auto bits = static_cast<std::uint32_t>(w.exchange[l]);
    if (is_absolute) bits &= ~sign;
    if (is_nan(bits)) {
      has_nan = true;
      return;
    }
    const bool is_better =
        is_highest ? ordered(bits) > ordered(result) : ordered(bits) < ordered(result);
    if (!has_number || is_better) result = bits;
    has_number = true;
  });
  if (has_nan && instr.flags & float_flag::nan) result = canonical_nan;
  auto* const to = w.at<std::uint32_t>(instr.operand[0]);
  for_each_lane(w.active, [&](int l) { to[l] = result; });
}

}  // namespace halfwarp::emulator::exec
