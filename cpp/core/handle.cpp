// SPDX-License-Identifier: Apache-2.0
// The report of a driver object that could not be destroyed.
#include "core/handle.hpp"

#include <cstdio>

#include "driver/call.hpp"

namespace halfwarp::core {

void report_failed_destroy(const char* function, CUresult code) noexcept {
  if (code == CUDA_ERROR_DEINITIALIZED || code == CUDA_ERROR_CONTEXT_IS_DESTROYED) return;
  if (is_exiting.load(std::memory_order_relaxed)) return;
  const char* name = nullptr;
  if (driver::try_call(driver::table->cuGetErrorName, code, &name) != CUDA_SUCCESS) name = nullptr;
  std::fprintf(stderr, "halfwarp: %s failed during clean-up: %s (%d)\n", function,
               name == nullptr ? "unknown error" : name, static_cast<int>(code));
}

}  // namespace halfwarp::core
