// SPDX-License-Identifier: Apache-2.0
// Device memory allocated synchronously, for devices without memory pools. See free_order.hpp for
// its deallocation.
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

}  // namespace halfwarp::core
