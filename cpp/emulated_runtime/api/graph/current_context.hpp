// SPDX-License-Identifier: Apache-2.0
// The context of a node if the runtime names none.
#pragma once

#include "emulated_runtime/process/connection.hpp"

namespace halfwarp::emulated_runtime::api {

// Returns the current context, which the gate has set.
inline CUcontext current_context() noexcept {
  CUcontext current = nullptr;
  table->cuCtxGetCurrent(&current);
  return current;
}

}  // namespace halfwarp::emulated_runtime::api
