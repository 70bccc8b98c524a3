// SPDX-License-Identifier: Apache-2.0
// Copies of rows and slices between memory and arrays.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/memory/pitched_copy.hpp"
#include "emulated_runtime/process/context.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

struct synchronous {
  cudaError_t operator()(const pitched_copy& copy) const {
    const CUDA_MEMCPY3D parameters = for_driver(copy);
    return forward(table->cuMemcpy3D, &parameters);
  }
};

struct asynchronous {
  cudaStream_t stream;
  cudaError_t operator()(const pitched_copy& copy) const {
    const CUDA_MEMCPY3D parameters = for_driver(copy);
    return forward(table->cuMemcpy3DAsync, &parameters, stream);
  }
};

bool is_known(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

bool rows_overlap(const endpoint& end, size_t width) { return !end.array && end.pitch < width; }

template <class Run>
cudaError_t copy_rows(const Run& run, const endpoint& to, const endpoint& from, size_t width,
                      size_t height, cudaMemcpyKind kind) {
  if (!is_known(kind)) return cudaErrorInvalidMemcpyDirection;
  if (width == 0 || height == 0) return cudaSuccess;
  if (height > 1 && (rows_overlap(to, width) || rows_overlap(from, width))) {
    return cudaErrorInvalidPitchValue;
  }
  return run({to, from, {width, height, 1}});
}

template <class Run>
cudaError_t copy_slices(const Run& run, const cudaMemcpy3DParms* params) {
  pitched_copy copy;
  if (!params) return cudaErrorInvalidValue;
  if (const cudaError_t code = read_parameters(*params, &copy)) return code;
  const auto& [width, height, depth] = copy.extent;
  return width == 0 || height == 0 || depth == 0 ? cudaSuccess : run(copy);
}

cudaError_t read_peer_parameters(const cudaMemcpy3DPeerParms* params, CUDA_MEMCPY3D_PEER* out) {
  pitched_copy copy;
  if (!params) return cudaErrorInvalidValue;
  if (const cudaError_t code = read_parameters(*params, &copy)) return code;
  *out = for_driver_between_peers(copy);
  if (const cudaError_t code = retain_primary(params->srcDevice, &out->srcContext)) return code;
  return retain_primary(params->dstDevice, &out->dstContext);
}

}  // namespace

cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                         size_t height, cudaMemcpyKind kind) noexcept {
  return copy_rows(synchronous{}, target_memory(dst, dpitch, kind),
                   source_memory(src, spitch, kind), width, height, kind);
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) noexcept {
  return copy_rows(asynchronous{stream}, target_memory(dst, dpitch, kind),
                   source_memory(src, spitch, kind), width, height, kind);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                                size_t spitch, size_t width, size_t height,
                                cudaMemcpyKind kind) noexcept {
  return copy_rows(synchronous{}, in_array(dst, wOffset, hOffset), source_memory(src, spitch, kind),
                   width, height, kind);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                     const void* src, size_t spitch, size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) noexcept {
  return copy_rows(asynchronous{stream}, in_array(dst, wOffset, hOffset),
                   source_memory(src, spitch, kind), width, height, kind);
}

cudaError_t cudaMemcpy2DFromArray(void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                  size_t hOffset, size_t width, size_t height,
                                  cudaMemcpyKind kind) noexcept {
  return copy_rows(synchronous{}, target_memory(dst, dpitch, kind), in_array(src, wOffset, hOffset),
                   width, height, kind);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* dst, size_t dpitch, cudaArray_const_t src,
                                       size_t wOffset, size_t hOffset, size_t width, size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream) noexcept {
  return copy_rows(asynchronous{stream}, target_memory(dst, dpitch, kind),
                   in_array(src, wOffset, hOffset), width, height, kind);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                     cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                     size_t width, size_t height, cudaMemcpyKind kind) noexcept {
  return copy_rows(synchronous{}, in_array(dst, wOffsetDst, hOffsetDst),
                   in_array(src, wOffsetSrc, hOffsetSrc), width, height, kind);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) noexcept {
  return copy_slices(synchronous{}, p);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) noexcept {
  return copy_slices(asynchronous{stream}, p);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) noexcept {
  CUDA_MEMCPY3D_PEER parameters;
  if (const cudaError_t code = read_peer_parameters(p, &parameters)) return code;
  return forward(table->cuMemcpy3DPeer, &parameters);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) noexcept {
  CUDA_MEMCPY3D_PEER parameters;
  if (const cudaError_t code = read_peer_parameters(p, &parameters)) return code;
  return forward(table->cuMemcpy3DPeerAsync, &parameters, stream);
}

}  // namespace halfwarp::emulated_runtime::api
