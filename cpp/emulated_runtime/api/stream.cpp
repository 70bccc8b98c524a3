// SPDX-License-Identifier: Apache-2.0
// Streams and events, as far as the driver's functions take more than the runtime's.
#include <memory>
#include <new>

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

// A callback that is told the driver's code where the program's takes the runtime's.
struct callback {
  cudaStreamCallback_t function;
  void* data;

  static void CUDA_CB run(CUstream stream, CUresult status, void* self) {
    const std::unique_ptr<callback> owner{static_cast<callback*>(self)};
    owner->function(stream, from_driver(status), owner->data);
  }
};

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* pStream) noexcept {
  return forward(table->cuStreamCreate, pStream, unsigned{cudaStreamDefault});
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function,
                                  void* userData, unsigned int flags) noexcept {
  if (!function) return cudaErrorInvalidValue;
  std::unique_ptr<callback> made{new (std::nothrow) callback{function, userData}};
  if (!made) return cudaErrorMemoryAllocation;
  const cudaError_t code =
      forward(table->cuStreamAddCallback, stream, &callback::run, made.get(), flags);
  if (code == cudaSuccess) static_cast<void>(made.release());  // the driver runs it once
  return code;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) noexcept {
  return forward(table->cuEventCreate, event, unsigned{cudaEventDefault});
}

}  // namespace halfwarp::emulated_runtime::api
