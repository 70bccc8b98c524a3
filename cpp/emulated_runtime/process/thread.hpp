// SPDX-License-Identifier: Apache-2.0
// The runtime's state of a thread.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace halfwarp::emulated_runtime {

struct thread_state {
  cudaError_t last_error = cudaSuccess;
  int device = 0;             // the device whose primary context the next call uses
  CUcontext bound = nullptr;  // the primary context that the runtime made current
  int bound_device = 0;       // the device of `bound`
};

inline constinit thread_local thread_state this_thread{};

}  // namespace halfwarp::emulated_runtime
