// SPDX-License-Identifier: Apache-2.0
// Reports once per function of an API that it is not emulated. The runtime uses it too.
#pragma once

#include <atomic>
#include <cstdio>
#include <string_view>

namespace halfwarp::emulator {

template <unsigned function_count>
class refusal_notice {
 public:
  void report(unsigned function_index, std::string_view name) noexcept {
    if (was_reported_[function_index].exchange(true, std::memory_order_relaxed)) return;
    std::fprintf(stderr, "emulator: %.*s is not emulated\n", static_cast<int>(name.size()),
                 name.data());
  }

 private:
  std::atomic<bool> was_reported_[function_count] = {};
};

}  // namespace halfwarp::emulator
