// SPDX-License-Identifier: Apache-2.0
// Kernel nodes.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/graph/kernel_parameters.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

cudaError_t read_request(const cudaKernelNodeParams* from, CUDA_KERNEL_NODE_PARAMS* to) {
  if (!from) return cudaErrorInvalidValue;
  if (!from->func) return cudaErrorInvalidDeviceFunction;
  *to = {};
  write_launch(*from, to);
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                   const cudaKernelNodeParams* pNodeParams) noexcept {
  CUDA_KERNEL_NODE_PARAMS request;
  if (const cudaError_t code = read_request(pNodeParams, &request)) return code;
  return forward(table->cuGraphAddKernelNode, pGraphNode, graph, pDependencies, numDependencies,
                 &request);
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                         cudaKernelNodeParams* pNodeParams) noexcept {
  CUDA_KERNEL_NODE_PARAMS told{};
  if (!pNodeParams) return cudaErrorInvalidValue;
  if (const cudaError_t code = forward(table->cuGraphKernelNodeGetParams, node, &told)) {
    return code;
  }
  return cudaErrorInvalidDeviceFunction;  // its kernel is no symbol of a compiled program
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* pNodeParams) noexcept {
  CUDA_KERNEL_NODE_PARAMS request;
  if (const cudaError_t code = read_request(pNodeParams, &request)) return code;
  return forward(table->cuGraphKernelNodeSetParams, node, &request);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* pNodeParams) noexcept {
  CUDA_KERNEL_NODE_PARAMS request;
  if (const cudaError_t code = read_request(pNodeParams, &request)) return code;
  return forward(table->cuGraphExecKernelNodeSetParams, hGraphExec, node, &request);
}

}  // namespace halfwarp::emulated_runtime::api
