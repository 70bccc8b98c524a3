// SPDX-License-Identifier: Apache-2.0
// Device memory that is there at once and goes at once, for devices without memory pools.
#pragma once

#include <cstddef>

#include "core/context.hpp"

namespace halfwarp::core {

[[nodiscard]] inline CUdeviceptr allocate_in_context(const context_ref& context, std::size_t size) {
  const current_scope scope{context.raw()};
  CUdeviceptr pointer = 0;
  driver::call(driver::table->cuMemAlloc, &pointer, size);
  return pointer;
}

inline void free_in_context(const context_ref& context, CUdeviceptr pointer) {
  const current_scope scope{context.raw()};
  driver::call(driver::table->cuMemFree, pointer);
}

}  // namespace halfwarp::core
