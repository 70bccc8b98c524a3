// SPDX-License-Identifier: Apache-2.0
// The context that a node runs in where the runtime does not name one.
#pragma once

#include "emulated_runtime/process/connection.hpp"

namespace halfwarp::emulated_runtime::api {

// There is one: the gate saw to it.
inline CUcontext current_context() noexcept {
  CUcontext current = nullptr;
  table->cuCtxGetCurrent(&current);
  return current;
}

}  // namespace halfwarp::emulated_runtime::api
