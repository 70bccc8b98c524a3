// SPDX-License-Identifier: Apache-2.0
// Nodes that copy, fill and free memory. The driver wants a context where the runtime has none.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/graph/current_context.hpp"
#include "emulated_runtime/api/memory/pitched_copy.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

cudaError_t read_request(const cudaMemcpy3DParms* from, CUDA_MEMCPY3D* to) {
  pitched_copy copy;
  if (!from) return cudaErrorInvalidValue;
  if (const cudaError_t code = read_parameters(*from, &copy)) return code;
  *to = for_driver(copy);
  return cudaSuccess;
}

// One row of bytes.
cudaMemcpy3DParms one_row(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  cudaMemcpy3DParms made{};
  made.srcPtr = {const_cast<void*>(src), count, count, 1};
  made.dstPtr = {dst, count, count, 1};
  made.extent = {count, 1, 1};
  made.kind = kind;
  return made;
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
  CUDA_MEMCPY3D told{};
  if (!pNodeParams) return cudaErrorInvalidValue;
  if (const cudaError_t code = forward(table->cuGraphMemcpyNodeGetParams, node, &told)) {
    return code;
  }
  return read_driver(told, pNodeParams);
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
