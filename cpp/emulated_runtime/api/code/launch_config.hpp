// SPDX-License-Identifier: Apache-2.0
// Converts the configuration of a launch, whose attributes have the driver's layout.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {

inline CUlaunchConfig for_driver(const cudaLaunchConfig_t& source) noexcept {
  static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
  CUlaunchConfig result{};
  result.gridDimX = source.gridDim.x;
  result.gridDimY = source.gridDim.y;
  result.gridDimZ = source.gridDim.z;
  result.blockDimX = source.blockDim.x;
  result.blockDimY = source.blockDim.y;
  result.blockDimZ = source.blockDim.z;
  result.sharedMemBytes = static_cast<unsigned>(source.dynamicSmemBytes);
  result.hStream = source.stream;
  result.attrs = reinterpret_cast<CUlaunchAttribute*>(source.attrs);
  result.numAttrs = source.numAttrs;
  return result;
}

}  // namespace halfwarp::emulated_runtime::api
