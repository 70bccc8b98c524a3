// SPDX-License-Identifier: Apache-2.0
// Directed rounding through the floating-point mode of the host.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

#include <cstdint>

#include "emulator/exec/lanes/half.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {

// Sets the host's rounding mode for one instruction. The compiler moves no loads and stores across
// the change.
class rounding_mode {
 public:
  [[gnu::always_inline]] explicit rounding_mode(int rounding)
      : is_changed_{rounding != to_nearest} {
    if (is_changed_) saved_ = exchange(rounding);
  }
  [[gnu::always_inline]] ~rounding_mode() {
    if (is_changed_) restore(saved_);
  }
  rounding_mode(const rounding_mode&) = delete;  // restores the mode once
  rounding_mode& operator=(const rounding_mode&) = delete;

 private:
#if defined(__x86_64__)
  // The lanes use the vector unit alone. fesetround() also sets the x87 unit, which costs more than
  // the instruction.
  static std::uint32_t exchange(int rounding) {
    constexpr std::uint32_t modes[] = {0, 3, 1, 2}, shift = 13;
    const std::uint32_t before = _mm_getcsr();
    restore((before & ~(3u << shift)) | modes[rounding] << shift);
    return before;
  }
  static void restore(std::uint32_t state) { asm volatile("ldmxcsr %0" : : "m"(state) : "memory"); }
#else
  static int exchange(int rounding) {
    constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    const int before = fegetround();
    fesetround(modes[rounding]);
    return before;
  }
  static void restore(int mode) { fesetround(mode); }
#endif

  bool is_changed_;
  std::uint32_t saved_ = 0;
};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
