// SPDX-License-Identifier: Apache-2.0
// The parameters of kernel nodes: the runtime's grids as the driver's numbers, and back.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include "emulated_runtime/process/connection.hpp"

namespace halfwarp::emulated_runtime::api {

// A handle that is no kernel goes as a function; the driver knows one.
template <class Driver>
void write_kernel(const void* func, Driver* to) {
  CUfunction found = nullptr;
  const auto kernel = static_cast<CUkernel>(const_cast<void*>(func));
  const bool is_kernel = table->cuKernelGetFunction(&found, kernel) == CUDA_SUCCESS;
  to->kern = is_kernel ? kernel : nullptr;
  to->func = is_kernel ? nullptr : static_cast<CUfunction>(const_cast<void*>(func));
}

template <class Driver>
void* read_kernel(const Driver& from) {
  return from.kern ? static_cast<void*>(from.kern) : static_cast<void*>(from.func);
}

// Runtime: cudaKernelNodeParams or its V2. Driver: CUDA_KERNEL_NODE_PARAMS or its v3.
template <class Runtime, class Driver>
void write_launch(const Runtime& from, Driver* to) {
  write_kernel(from.func, to);
  to->gridDimX = from.gridDim.x;
  to->gridDimY = from.gridDim.y;
  to->gridDimZ = from.gridDim.z;
  to->blockDimX = from.blockDim.x;
  to->blockDimY = from.blockDim.y;
  to->blockDimZ = from.blockDim.z;
  to->sharedMemBytes = from.sharedMemBytes;
  to->kernelParams = from.kernelParams;
  to->extra = from.extra;
}

template <class Driver, class Runtime>
void read_launch(const Driver& from, Runtime* to) {
  to->func = read_kernel(from);
  to->gridDim = {from.gridDimX, from.gridDimY, from.gridDimZ};
  to->blockDim = {from.blockDimX, from.blockDimY, from.blockDimZ};
  to->sharedMemBytes = from.sharedMemBytes;
  to->kernelParams = from.kernelParams;
  to->extra = from.extra;
}

}  // namespace halfwarp::emulated_runtime::api
