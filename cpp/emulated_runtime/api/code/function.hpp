// SPDX-License-Identifier: Apache-2.0
// Conversion of the runtime's function arguments to driver functions.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace halfwarp::emulated_runtime::api {

// `func` must be a cudaKernel_t, or the host address of a kernel that a compiled program
// registered. Returns cudaErrorInvalidDeviceFunction for null and cudaErrorInvalidResourceHandle
// for other values, including a cudaFunction_t.
cudaError_t find_function(const void* func, CUfunction* out);

}  // namespace halfwarp::emulated_runtime::api
