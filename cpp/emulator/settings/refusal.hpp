// SPDX-License-Identifier: Apache-2.0
// The only exception of the driver's code: a refused call, with its code and the reason.
#pragma once

#include <cuda.h>

#include <string>

namespace halfwarp::emulator {

struct refusal {
  CUresult code;
  std::string text;  // the error and its remedy; may be empty if the code is sufficient
};

[[noreturn]] inline void refuse(CUresult code, std::string text = {}) {
  throw refusal{code, std::move(text)};
}

inline void require(bool condition, CUresult code, const char* text) {
  if (!condition) [[unlikely]]
    refuse(code, text);
}

}  // namespace halfwarp::emulator
