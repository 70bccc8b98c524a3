// SPDX-License-Identifier: Apache-2.0
// Copies of one range, between devices, and batches.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/context.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

struct peers {
  CUcontext to, from;
};

cudaError_t find_peers(int to, int from, peers* result) {
  if (const cudaError_t code = retain_primary(to, &result->to)) return code;
  return retain_primary(from, &result->from);
}

}  // namespace

// Only cudaMemcpyDefault makes the driver infer the memory types from the addresses.
cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) noexcept {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return forward(table->cuMemcpyHtoD, dst, src, count);
    case cudaMemcpyDeviceToHost:
      return forward(table->cuMemcpyDtoH, dst, src, count);
    case cudaMemcpyDeviceToDevice:
      return forward(table->cuMemcpyDtoD, dst, src, count);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return forward(table->cuMemcpy, dst, src, count);
  }
  return cudaErrorInvalidMemcpyDirection;
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) noexcept {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return forward(table->cuMemcpyHtoDAsync, dst, src, count, stream);
    case cudaMemcpyDeviceToHost:
      return forward(table->cuMemcpyDtoHAsync, dst, src, count, stream);
    case cudaMemcpyDeviceToDevice:
      return forward(table->cuMemcpyDtoDAsync, dst, src, count, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return forward(table->cuMemcpyAsync, dst, src, count, stream);
  }
  return cudaErrorInvalidMemcpyDirection;
}

cudaError_t cudaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice,
                           size_t count) noexcept {
  peers contexts{};
  if (const cudaError_t code = find_peers(dstDevice, srcDevice, &contexts)) return code;
  return forward(table->cuMemcpyPeer, dst, contexts.to, src, contexts.from, count);
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice,
                                size_t count, cudaStream_t stream) noexcept {
  peers contexts{};
  if (const cudaError_t code = find_peers(dstDevice, srcDevice, &contexts)) return code;
  return forward(table->cuMemcpyPeerAsync, dst, contexts.to, src, contexts.from, count, stream);
}

// The driver does not write to the lists, although its parameter types are not const.
cudaError_t cudaMemcpyBatchAsync(void* const* dsts, const void* const* srcs, const size_t* sizes,
                                 size_t count, cudaMemcpyAttributes* attrs, size_t* attrsIdxs,
                                 size_t numAttrs, cudaStream_t stream) noexcept {
  return forward(table->cuMemcpyBatchAsync, const_cast<void**>(dsts), const_cast<void**>(srcs),
                 const_cast<size_t*>(sizes), count, attrs, attrsIdxs, numAttrs, stream);
}

}  // namespace halfwarp::emulated_runtime::api
