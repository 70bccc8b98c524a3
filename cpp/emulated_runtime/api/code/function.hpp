// SPDX-License-Identifier: Apache-2.0
// The function behind what a runtime call is given as one.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace halfwarp::emulated_runtime::api {

// `func` is a cudaKernel_t. Symbols of compiled programs, which the runtime takes first of all,
// there are none: no program registers its kernels with this library. For null
// cudaErrorInvalidDeviceFunction; cudaErrorInvalidResourceHandle for anything else, so for a
// cudaFunction_t as well.
cudaError_t find_function(const void* func, CUfunction* out);

}  // namespace halfwarp::emulated_runtime::api
