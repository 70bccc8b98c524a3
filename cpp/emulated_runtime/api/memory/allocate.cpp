// SPDX-License-Identifier: Apache-2.0
// Allocates and frees device and host memory: linear, pitched and 3D.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

// Rows are aligned for the largest element type that a kernel loads at once.
constexpr unsigned max_element_bytes = 16;

}  // namespace

// A size of 0 allocates nothing.
cudaError_t cudaMalloc(void** devPtr, size_t size) noexcept {
  if (!devPtr) return cudaErrorInvalidValue;
  if (size == 0) *devPtr = nullptr;
  return size == 0 ? cudaSuccess : forward(table->cuMemAlloc, devPtr, size);
}

cudaError_t cudaMallocManaged(void** devPtr, size_t size, unsigned int flags) noexcept {
  if (!devPtr) return cudaErrorInvalidValue;
  if (size == 0) *devPtr = nullptr;
  return size == 0 ? cudaSuccess : forward(table->cuMemAllocManaged, devPtr, size, flags);
}

cudaError_t cudaMallocPitch(void** devPtr, size_t* pitch, size_t width, size_t height) noexcept {
  if (!devPtr || !pitch) return cudaErrorInvalidValue;
  if (width == 0 || height == 0) {
    *devPtr = nullptr;
    *pitch = 0;
    return cudaSuccess;
  }
  return forward(table->cuMemAllocPitch, devPtr, pitch, width, height, max_element_bytes);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitchedDevPtr, cudaExtent extent) noexcept {
  if (!pitchedDevPtr) return cudaErrorInvalidValue;
  cudaPitchedPtr result{nullptr, 0, extent.width, extent.height};
  const cudaError_t code =
      api::cudaMallocPitch(&result.ptr, &result.pitch, extent.width, extent.height * extent.depth);
  if (code == cudaSuccess) *pitchedDevPtr = result;
  return code;
}

cudaError_t cudaFree(void* devPtr) noexcept {
  return devPtr ? forward(table->cuMemFree, devPtr) : cudaSuccess;
}

cudaError_t cudaFreeHost(void* ptr) noexcept {
  return ptr ? forward(table->cuMemFreeHost, ptr) : cudaSuccess;
}

}  // namespace halfwarp::emulated_runtime::api
