// SPDX-License-Identifier: Apache-2.0
// Directed rounding through the floating-point mode of the host.
#pragma once

#include <cfenv>

#include "emulator/exec/lanes/half.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {

// Sets the host's rounding mode for one instruction. The calls are opaque to the compiler, which
// therefore does not move loads and stores across them.
class rounding_mode {
 public:
  [[gnu::always_inline]] explicit rounding_mode(int rounding)
      : is_changed_{rounding != to_nearest} {
    constexpr int host_modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    if (is_changed_) fesetround(host_modes[rounding]);
  }
  [[gnu::always_inline]] ~rounding_mode() {
    if (is_changed_) fesetround(FE_TONEAREST);
  }
  rounding_mode(const rounding_mode&) = delete;  // restores the mode once
  rounding_mode& operator=(const rounding_mode&) = delete;

 private:
  bool is_changed_;
};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
