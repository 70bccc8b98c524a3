// SPDX-License-Identifier: Apache-2.0
// Operations on two numbers, as arguments of handlers: logic, extremes, and counting with a bound.
#pragma once

#include "emulator/exec/lanes/numbers.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {

struct conjunction {
  template <class T>
  static T of(T a, T b) {
    return a & b;
  }
};
struct disjunction {
  template <class T>
  static T of(T a, T b) {
    return a | b;
  }
};
struct exclusive_or {
  template <class T>
  static T of(T a, T b) {
    return a ^ b;
  }
};

// For integers only: floating-point numbers have NaN and two zeros.
struct minimum {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct maximum {
  template <class T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};

struct increment {  // wraps to zero after b
  static u32 of(u32 old, u32 b) { return old >= b ? 0 : old + 1; }
};
struct decrement {  // wraps to b after zero
  static u32 of(u32 old, u32 b) { return old == 0 || old > b ? b : old - 1; }
};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
