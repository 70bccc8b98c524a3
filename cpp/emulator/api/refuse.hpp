// SPDX-License-Identifier: Apache-2.0
// The answer of a driver function that is not emulated.
#pragma once

#include <cuda.h>

namespace halfwarp::emulator::api {

// CUDA_ERROR_NOT_SUPPORTED; says so on standard error at the first call of each function.
CUresult refuse(unsigned function_index) noexcept;

}  // namespace halfwarp::emulator::api
