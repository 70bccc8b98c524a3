// SPDX-License-Identifier: Apache-2.0
// The warning about a driver object that could not be destroyed.
#include "core/handle.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <new>

#include "driver/call.hpp"

namespace halfwarp::core {

void report_failed_destroy(const char* function, std::uintptr_t handle, CUresult code) noexcept {
  if (code == CUDA_ERROR_DEINITIALIZED || code == CUDA_ERROR_CONTEXT_IS_DESTROYED) return;
  if (is_exiting.load(std::memory_order_relaxed)) return;
  const char* name = nullptr;
  if (driver::try_call(driver::table->cuGetErrorName, code, &name) != CUDA_SUCCESS) name = nullptr;
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(), "%s failed during clean-up of 0x%" PRIxPTR ": %s (%d)",
                function, handle, name == nullptr ? "unknown error" : name, static_cast<int>(code));
  try {
    if (warning_hook != nullptr && warning_hook(text.data())) return;
  } catch (const std::bad_alloc&) {
    name = nullptr;  // the fallback below allocates no memory
  }
  std::fprintf(stderr, "halfwarp: %s\n", text.data());
}

}  // namespace halfwarp::core
