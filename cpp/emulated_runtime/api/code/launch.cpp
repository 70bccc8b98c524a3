// SPDX-License-Identifier: Apache-2.0
// Launches of kernels, which compiled programs name by the address of a host stub.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/code/launch_config.hpp"
#include "emulated_runtime/process/forward.hpp"
#include "emulated_runtime/program/registry.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

// The limits of all devices.
constexpr dim3 largest_grid{0x7fffffff, 0xffff, 0xffff};
constexpr dim3 largest_block{1024, 1024, 64};
constexpr unsigned most_threads = 1024;

bool is_within(dim3 extent, dim3 largest) {
  return extent.x && extent.y && extent.z && extent.x <= largest.x && extent.y <= largest.y &&
         extent.z <= largest.z;
}

// The driver calls such a shape an invalid value.
bool is_valid_shape(dim3 grid, dim3 block) {
  return is_within(grid, largest_grid) && is_within(block, largest_block) &&
         block.x * block.y * block.z <= most_threads;
}

// The driver calls an address that is no kernel an invalid handle, and an invalid stream as well.
cudaError_t launched(cudaError_t code, const void* func) {
  const bool is_of_kernel = code == cudaErrorInvalidResourceHandle && !program::find_kernel(func);
  return is_of_kernel ? cudaErrorInvalidDeviceFunction : code;
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                             size_t sharedMem, cudaStream_t stream) noexcept {
  const cudaLaunchConfig_t config{gridDim, blockDim, sharedMem, stream, nullptr, 0};
  return api::cudaLaunchKernelExC(&config, func, args);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func,
                                void** args) noexcept {
  CUkernel kernel = nullptr;
  if (!config) return cudaErrorInvalidValue;
  if (!is_valid_shape(config->gridDim, config->blockDim)) return cudaErrorInvalidConfiguration;
  if (const cudaError_t code = program::resolve(func, &kernel)) return code;
  const CUlaunchConfig request = for_driver(*config);
  const CUresult code =
      table->cuLaunchKernelEx(&request, reinterpret_cast<CUfunction>(kernel), args, nullptr);
  return launched(from_driver(code), func);
}

cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                        size_t sharedMem, cudaStream_t stream) noexcept {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  const cudaLaunchConfig_t config{gridDim, blockDim, sharedMem, stream, &attribute, 1};
  return api::cudaLaunchKernelExC(&config, func, args);
}

}  // namespace halfwarp::emulated_runtime::api
