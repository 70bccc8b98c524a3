// SPDX-License-Identifier: Apache-2.0
// The answer of a driver function that is not emulated.
#include "emulator/api/refuse.hpp"

#include <atomic>
#include <cstdio>

#include "emulator/api.hpp"

namespace halfwarp::emulator::api {

CUresult refuse(unsigned function_index) noexcept {
  static constinit std::atomic<bool> was_said[function_count] = {};
  if (!was_said[function_index].exchange(true, std::memory_order_relaxed)) {
    const std::string_view name = function_names[function_index];
    std::fprintf(stderr, "emulator: %.*s is not emulated\n", static_cast<int>(name.size()),
                 name.data());
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace halfwarp::emulator::api
