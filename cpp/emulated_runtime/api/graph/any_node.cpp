// SPDX-License-Identifier: Apache-2.0
// Nodes of any type, by the union of all parameter structs.
#include <cstring>

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/graph/current_context.hpp"
#include "emulated_runtime/api/graph/kernel_parameters.hpp"
#include "emulated_runtime/api/memory/pitched_copy.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams));

// Returns whether the two structs differ. For types other than kernels and copies they are equal.
bool has_different_layout(cudaGraphNodeType type) {
  return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy;
}

// Returns the context field of the driver's parameters. The runtime has an execution context
// instead, whose null is the current context.
CUcontext* context_in(CUgraphNodeParams& params) {
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return &params.kernel.ctx;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return &params.memcpy.copyCtx;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return &params.memset.ctx;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return &params.conditional.ctx;
    default:
      return nullptr;
  }
}

cudaError_t write(const cudaGraphNodeParams& source, CUgraphNodeParams* result) {
  *result = {};
  result->type = as_driver<CUgraphNodeType>(source.type);
  if (source.type == cudaGraphNodeTypeKernel) {
    if (source.kernel.ctx) return cudaErrorNotSupported;
    const cudaError_t code = write_launch(source.kernel, &result->kernel);
    if (code) return code;
  } else if (source.type == cudaGraphNodeTypeMemcpy) {
    pitched_copy copy;
    if (source.memcpy.ctx) return cudaErrorNotSupported;
    if (const cudaError_t code = read_parameters(source.memcpy.copyParams, &copy)) return code;
    result->memcpy.flags = source.memcpy.flags;
    result->memcpy.copyParams = for_driver(copy);
  } else {
    std::memcpy(static_cast<void*>(result), &source, sizeof source);
  }
  CUcontext* const context = context_in(*result);
  if (context && *context) return cudaErrorNotSupported;  // green contexts do not exist here
  if (context) *context = current_context();
  return cudaSuccess;
}

cudaError_t read(CUgraphNodeParams source, cudaGraphNodeParams* result) {
  if (CUcontext* const context = context_in(source)) *context = nullptr;
  *result = {};
  result->type = static_cast<cudaGraphNodeType>(source.type);
  if (result->type == cudaGraphNodeTypeKernel) {
    read_launch(source.kernel, &result->kernel);
    result->kernel.functionType = read_host_address(source.kernel)
                                      ? cudaKernelFunctionTypeDeviceEntry
                                  : source.kernel.kern ? cudaKernelFunctionTypeKernel
                                                       : cudaKernelFunctionTypeFunction;
    return cudaSuccess;
  }
  if (result->type == cudaGraphNodeTypeMemcpy) {
    result->memcpy.flags = source.memcpy.flags;
    return read_driver(source.memcpy.copyParams, &result->memcpy.copyParams);
  }
  std::memcpy(static_cast<void*>(result), &source, sizeof source);
  return cudaSuccess;
}

// Converts the parameters, calls the driver, and converts the values that the driver returned.
template <class Call>
cudaError_t with_parameters(cudaGraphNodeParams* runtime_params, Call call) {
  CUgraphNodeParams request;
  if (!runtime_params) return cudaErrorInvalidValue;
  if (const cudaError_t code = write(*runtime_params, &request)) return code;
  if (const cudaError_t code = call(&request)) return code;
  return has_different_layout(runtime_params->type) ? cudaSuccess : read(request, runtime_params);
}

}  // namespace

cudaError_t cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                             const cudaGraphNode_t* pDependencies,
                             const cudaGraphEdgeData* dependencyData, size_t numDependencies,
                             cudaGraphNodeParams* nodeParams) noexcept {
  return with_parameters(nodeParams, [&](CUgraphNodeParams* request) {
    return forward(table->cuGraphAddNode, pGraphNode, graph, pDependencies, dependencyData,
                   numDependencies, request);
  });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* nodeParams) noexcept {
  return with_parameters(nodeParams, [&](CUgraphNodeParams* request) {
    return forward(table->cuGraphNodeSetParams, node, request);
  });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* nodeParams) noexcept {
  return with_parameters(nodeParams, [&](CUgraphNodeParams* request) {
    return forward(table->cuGraphExecNodeSetParams, graphExec, node, request);
  });
}

cudaError_t cudaGraphNodeGetParams(cudaGraphNode_t node, cudaGraphNodeParams* nodeParams) noexcept {
  CUgraphNodeParams driver_params{};
  if (!nodeParams) return cudaErrorInvalidValue;
  if (const cudaError_t code = forward(table->cuGraphNodeGetParams, node, &driver_params))
    return code;
  return read(driver_params, nodeParams);
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* pHandle_out,
                                             cudaGraph_t graph, unsigned int defaultLaunchValue,
                                             unsigned int flags) noexcept {
  return forward(table->cuGraphConditionalHandleCreate, pHandle_out, graph, current_context(),
                 defaultLaunchValue, flags);
}

}  // namespace halfwarp::emulated_runtime::api
