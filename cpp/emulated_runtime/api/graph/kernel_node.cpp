// SPDX-License-Identifier: Apache-2.0
// Kernel nodes.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/graph/kernel_parameters.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

cudaError_t read_request(const cudaKernelNodeParams* source, CUDA_KERNEL_NODE_PARAMS* result) {
  if (!source) return cudaErrorInvalidValue;
  if (!source->func) return cudaErrorInvalidDeviceFunction;
  *result = {};
  return write_launch(*source, result);
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
  CUDA_KERNEL_NODE_PARAMS driver_params{};
  if (!pNodeParams) return cudaErrorInvalidValue;
  if (const cudaError_t code = forward(table->cuGraphKernelNodeGetParams, node, &driver_params)) {
    return code;
  }
  // The kernel must be one of a compiled program.
  if (!read_host_address(driver_params)) return cudaErrorInvalidDeviceFunction;
  *pNodeParams = {};
  read_launch(driver_params, pNodeParams);
  return cudaSuccess;
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
