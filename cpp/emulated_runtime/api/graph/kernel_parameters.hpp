// SPDX-License-Identifier: Apache-2.0
// Converts the parameters of kernel nodes between the runtime and the driver.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include "emulated_runtime/process/connection.hpp"
#include "emulated_runtime/program/registry.hpp"

namespace halfwarp::emulated_runtime::api {

// Writes a kernel as a kernel, and any other handle as a function, which the driver checks.
template <class Driver>
cudaError_t write_kernel(const void* func, Driver* result) {
  CUfunction function = nullptr;
  CUkernel kernel = nullptr;
  if (const cudaError_t code = program::resolve(func, &kernel)) return code;
  const bool is_kernel = table->cuKernelGetFunction(&function, kernel) == CUDA_SUCCESS;
  result->kern = is_kernel ? kernel : nullptr;
  result->func = is_kernel ? nullptr : static_cast<CUfunction>(const_cast<void*>(func));
  return cudaSuccess;
}

// Returns the host address of the kernel of a compiled program, else null.
template <class Driver>
const void* read_host_address(const Driver& source) {
  return program::host_address_of(source.kern ? static_cast<const void*>(source.kern)
                                              : static_cast<const void*>(source.func));
}

template <class Driver>
void* read_kernel(const Driver& source) {
  return source.kern ? static_cast<void*>(source.kern) : static_cast<void*>(source.func);
}

// Runtime: cudaKernelNodeParams or its V2. Driver: CUDA_KERNEL_NODE_PARAMS or its v3.
template <class Runtime, class Driver>
cudaError_t write_launch(const Runtime& source, Driver* result) {
  if (const cudaError_t code = write_kernel(source.func, result)) return code;
  result->gridDimX = source.gridDim.x;
  result->gridDimY = source.gridDim.y;
  result->gridDimZ = source.gridDim.z;
  result->blockDimX = source.blockDim.x;
  result->blockDimY = source.blockDim.y;
  result->blockDimZ = source.blockDim.z;
  result->sharedMemBytes = source.sharedMemBytes;
  result->kernelParams = source.kernelParams;
  result->extra = source.extra;
  return cudaSuccess;
}

template <class Driver, class Runtime>
void read_launch(const Driver& source, Runtime* result) {
  const void* const host = read_host_address(source);
  result->func = host ? const_cast<void*>(host) : read_kernel(source);
  result->gridDim = {source.gridDimX, source.gridDimY, source.gridDimZ};
  result->blockDim = {source.blockDimX, source.blockDimY, source.blockDimZ};
  result->sharedMemBytes = source.sharedMemBytes;
  result->kernelParams = source.kernelParams;
  result->extra = source.extra;
}

}  // namespace halfwarp::emulated_runtime::api
