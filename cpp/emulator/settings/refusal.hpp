// SPDX-License-Identifier: Apache-2.0
// The one exception of the driver's code: a call cannot be done, with its code and the reason.
#pragma once

#include <cuda.h>

#include <string>

namespace halfwarp::emulator {

struct refusal {
  CUresult code;
  std::string text;  // what was wrong and what to do; may be empty when the code says it all
};

[[noreturn]] inline void refuse(CUresult code, std::string text = {}) {
  throw refusal{code, std::move(text)};
}

inline void require(bool condition, CUresult code, const char* text) {
  if (!condition) [[unlikely]]
    refuse(code, text);
}

}  // namespace halfwarp::emulator
