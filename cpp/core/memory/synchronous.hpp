// SPDX-License-Identifier: Apache-2.0
// Device memory that is there at once, for devices without memory pools. It goes back as all memory
// does: free_order.hpp.
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
