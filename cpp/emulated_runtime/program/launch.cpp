// SPDX-License-Identifier: Apache-2.0
// The steps of `kernel<<<grid, block>>>(arguments)` in nvcc's host code.
#include <cuda_runtime_api.h>

#include <vector>

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/entry_points.hpp"
#include "emulated_runtime/process/thread.hpp"
#include "emulated_runtime/program/registry.hpp"

namespace halfwarp::emulated_runtime::program {
namespace {

struct configuration {
  dim3 grid, block;
  size_t shared_bytes;
  CUstream stream;
};

// A stack, because an argument of a launch may contain a launch.
thread_local std::vector<configuration> configurations;

cudaError_t fail(cudaError_t code) noexcept { return this_thread.last_error = code; }

}  // namespace
}  // namespace halfwarp::emulated_runtime::program

using namespace halfwarp::emulated_runtime;
using program::configurations;

#pragma GCC visibility push(default)

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, CUstream stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                       void* stream) {
  if (configurations.empty()) return program::fail(cudaErrorMissingConfiguration);
  const program::configuration top = configurations.back();
  configurations.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<CUstream*>(stream) = top.stream;
  return cudaSuccess;
}

// Succeeds without loading the code. The program keeps the result of the first call for all
// devices, and never asks again after an error.
cudaError_t __cudaGetKernel(cudaKernel_t* result, const void* host) {
  const program::kernel* const record = program::find_kernel(host);
  if (!result) return program::fail(cudaErrorInvalidValue);
  *result = reinterpret_cast<cudaKernel_t>(const_cast<program::kernel*>(record));
  return record ? cudaSuccess : program::fail(cudaErrorInvalidDeviceFunction);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes, cudaStream_t stream) {
  const api::per_thread_streams scope;
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

}  // extern "C"
