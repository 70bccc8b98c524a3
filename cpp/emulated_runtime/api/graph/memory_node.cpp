// SPDX-License-Identifier: Apache-2.0
// Nodes that copy, fill and free memory. The driver's functions need a context.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/graph/current_context.hpp"
#include "emulated_runtime/api/memory/pitched_copy.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

cudaError_t read_request(const cudaMemcpy3DParms* source, CUDA_MEMCPY3D* result) {
  pitched_copy copy;
  if (!source) return cudaErrorInvalidValue;
  if (const cudaError_t code = read_parameters(*source, &copy)) return code;
  *result = for_driver(copy);
  return cudaSuccess;
}

// Describes a copy of contiguous bytes as one row.
cudaMemcpy3DParms one_row(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  cudaMemcpy3DParms result{};
  result.srcPtr = {const_cast<void*>(src), count, count, 1};
  result.dstPtr = {dst, count, count, 1};
  result.extent = {count, 1, 1};
  result.kind = kind;
  return result;
}

}  // namespace

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                   const cudaMemcpy3DParms* pCopyParams) noexcept {
  CUDA_MEMCPY3D request;
  if (const cudaError_t code = read_request(pCopyParams, &request)) return code;
  return forward(table->cuGraphAddMemcpyNode, pGraphNode, graph, pDependencies, numDependencies,
                 &request, current_context());
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                     void* dst, const void* src, size_t count,
                                     cudaMemcpyKind kind) noexcept {
  const cudaMemcpy3DParms row = one_row(dst, src, count, kind);
  return api::cudaGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies, &row);
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                         cudaMemcpy3DParms* pNodeParams) noexcept {
  CUDA_MEMCPY3D driver_params{};
  if (!pNodeParams) return cudaErrorInvalidValue;
  if (const cudaError_t code = forward(table->cuGraphMemcpyNodeGetParams, node, &driver_params)) {
    return code;
  }
  return read_driver(driver_params, pNodeParams);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* pNodeParams) noexcept {
  CUDA_MEMCPY3D request;
  if (const cudaError_t code = read_request(pNodeParams, &request)) return code;
  return forward(table->cuGraphMemcpyNodeSetParams, node, &request);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst, const void* src,
                                           size_t count, cudaMemcpyKind kind) noexcept {
  const cudaMemcpy3DParms row = one_row(dst, src, count, kind);
  return api::cudaGraphMemcpyNodeSetParams(node, &row);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* pNodeParams) noexcept {
  CUDA_MEMCPY3D request;
  if (const cudaError_t code = read_request(pNodeParams, &request)) return code;
  return forward(table->cuGraphExecMemcpyNodeSetParams, hGraphExec, node, &request,
                 current_context());
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                               void* dst, const void* src, size_t count,
                                               cudaMemcpyKind kind) noexcept {
  const cudaMemcpy3DParms row = one_row(dst, src, count, kind);
  return api::cudaGraphExecMemcpyNodeSetParams(hGraphExec, node, &row);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                   const cudaMemsetParams* pMemsetParams) noexcept {
  return forward(table->cuGraphAddMemsetNode, pGraphNode, graph, pDependencies, numDependencies,
                 pMemsetParams, current_context());
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaMemsetParams* pNodeParams) noexcept {
  return forward(table->cuGraphExecMemsetNodeSetParams, hGraphExec, node, pNodeParams,
                 current_context());
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* dptr_out) noexcept {
  return forward(table->cuGraphMemFreeNodeGetParams, node, static_cast<CUdeviceptr*>(dptr_out));
}

}  // namespace halfwarp::emulated_runtime::api
