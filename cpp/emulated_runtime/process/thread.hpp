// SPDX-License-Identifier: Apache-2.0
// What the runtime keeps for each thread of the program.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace halfwarp::emulated_runtime {

struct thread_state {
  cudaError_t last_error = cudaSuccess;
  int device = 0;             // the one that the next primary context is taken of
  CUcontext bound = nullptr;  // the primary context that the runtime made current here
  int bound_device = 0;       // and whose it is
};

inline constinit thread_local thread_state this_thread{};

}  // namespace halfwarp::emulated_runtime
