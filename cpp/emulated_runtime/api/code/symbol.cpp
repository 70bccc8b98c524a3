// SPDX-License-Identifier: Apache-2.0
// Variables of compiled programs: their addresses, and copies to and from them.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/program/registry.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

// Calls `copy` with the device address of a part of a variable.
template <class Copy>
cudaError_t with_part(const void* symbol, size_t offset, size_t count, Copy copy) {
  CUdeviceptr address = 0;
  size_t bytes = 0;
  if (const cudaError_t code = program::locate(symbol, &address, &bytes)) return code;
  if (offset > bytes || count > bytes - offset) return cudaErrorInvalidValue;
  return copy(reinterpret_cast<void*>(address + offset));
}

bool goes_to_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}

bool comes_from_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}

template <class Copy>
cudaError_t to_part(const void* symbol, size_t offset, size_t count, cudaMemcpyKind kind,
                    Copy copy) {
  if (!goes_to_device(kind)) return cudaErrorInvalidMemcpyDirection;
  return with_part(symbol, offset, count, copy);
}

template <class Copy>
cudaError_t from_part(const void* symbol, size_t offset, size_t count, cudaMemcpyKind kind,
                      Copy copy) {
  if (!comes_from_device(kind)) return cudaErrorInvalidMemcpyDirection;
  return with_part(symbol, offset, count, copy);
}

}  // namespace

cudaError_t cudaGetSymbolAddress(void** devPtr, const void* symbol) noexcept {
  CUdeviceptr address = 0;
  size_t bytes = 0;
  if (!devPtr) return cudaErrorInvalidValue;
  if (const cudaError_t code = program::locate(symbol, &address, &bytes)) return code;
  *devPtr = reinterpret_cast<void*>(address);
  return cudaSuccess;
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) noexcept {
  CUdeviceptr address = 0;
  return size ? program::locate(symbol, &address, size) : cudaErrorInvalidValue;
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset,
                               cudaMemcpyKind kind) noexcept {
  return to_part(symbol, offset, count, kind,
                 [&](void* part) { return api::cudaMemcpy(part, src, count, kind); });
}

cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count, size_t offset,
                                 cudaMemcpyKind kind) noexcept {
  return from_part(symbol, offset, count, kind,
                   [&](void* part) { return api::cudaMemcpy(dst, part, count, kind); });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count,
                                    size_t offset, cudaMemcpyKind kind,
                                    cudaStream_t stream) noexcept {
  return to_part(symbol, offset, count, kind,
                 [&](void* part) { return api::cudaMemcpyAsync(part, src, count, kind, stream); });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) noexcept {
  return from_part(symbol, offset, count, kind, [&](void* part) {
    return api::cudaMemcpyAsync(dst, part, count, kind, stream);
  });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t* pDependencies,
                                           size_t numDependencies, const void* symbol,
                                           const void* src, size_t count, size_t offset,
                                           cudaMemcpyKind kind) noexcept {
  return to_part(symbol, offset, count, kind, [&](void* part) {
    return api::cudaGraphAddMemcpyNode1D(pGraphNode, graph, pDependencies, numDependencies, part,
                                         src, count, kind);
  });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t* pDependencies,
                                             size_t numDependencies, void* dst, const void* symbol,
                                             size_t count, size_t offset,
                                             cudaMemcpyKind kind) noexcept {
  return from_part(symbol, offset, count, kind, [&](void* part) {
    return api::cudaGraphAddMemcpyNode1D(pGraphNode, graph, pDependencies, numDependencies, dst,
                                         part, count, kind);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* src, size_t count, size_t offset,
                                                 cudaMemcpyKind kind) noexcept {
  return to_part(symbol, offset, count, kind, [&](void* part) {
    return api::cudaGraphMemcpyNodeSetParams1D(node, part, src, count, kind);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst,
                                                   const void* symbol, size_t count, size_t offset,
                                                   cudaMemcpyKind kind) noexcept {
  return from_part(symbol, offset, count, kind, [&](void* part) {
    return api::cudaGraphMemcpyNodeSetParams1D(node, dst, part, count, kind);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec,
                                                     cudaGraphNode_t node, const void* symbol,
                                                     const void* src, size_t count, size_t offset,
                                                     cudaMemcpyKind kind) noexcept {
  return to_part(symbol, offset, count, kind, [&](void* part) {
    return api::cudaGraphExecMemcpyNodeSetParams1D(hGraphExec, node, part, src, count, kind);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec,
                                                       cudaGraphNode_t node, void* dst,
                                                       const void* symbol, size_t count,
                                                       size_t offset,
                                                       cudaMemcpyKind kind) noexcept {
  return from_part(symbol, offset, count, kind, [&](void* part) {
    return api::cudaGraphExecMemcpyNodeSetParams1D(hGraphExec, node, dst, part, count, kind);
  });
}

}  // namespace halfwarp::emulated_runtime::api
