// SPDX-License-Identifier: Apache-2.0
// Streams and events, where the driver's functions have other parameters than the runtime's.
#include <memory>
#include <new>

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

// Calls the program's callback with the runtime's code for the driver's code.
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
  std::unique_ptr<callback> created{new (std::nothrow) callback{function, userData}};
  if (!created) return cudaErrorMemoryAllocation;
  const cudaError_t code =
      forward(table->cuStreamAddCallback, stream, &callback::run, created.get(), flags);
  if (code == cudaSuccess) static_cast<void>(created.release());  // the driver calls it once
  return code;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) noexcept {
  return forward(table->cuEventCreate, event, unsigned{cudaEventDefault});
}

}  // namespace halfwarp::emulated_runtime::api
