// SPDX-License-Identifier: Apache-2.0
// The result of a driver function that is not emulated.
#pragma once

#include <cuda.h>

namespace halfwarp::emulator::api {

// Returns CUDA_ERROR_NOT_SUPPORTED; prints a notice to stderr at the first call of each function.
CUresult refuse(unsigned function_index) noexcept;

}  // namespace halfwarp::emulator::api
