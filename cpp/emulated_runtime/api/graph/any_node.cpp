// SPDX-License-Identifier: Apache-2.0
// Nodes of any type, by the one struct that has the parameters of all.
#include <cstring>

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/graph/current_context.hpp"
#include "emulated_runtime/api/graph/kernel_parameters.hpp"
#include "emulated_runtime/api/memory/pitched_copy.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams));

// Kernels and copies are described differently; the other types have the same fields in both.
bool is_described_differently(cudaGraphNodeType type) {
  return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy;
}

// Where the driver has a context, the runtime has an execution context; null is the current one.
CUcontext* context_in(CUgraphNodeParams& of) {
  switch (of.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return &of.kernel.ctx;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return &of.memcpy.copyCtx;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return &of.memset.ctx;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return &of.conditional.ctx;
    default:
      return nullptr;
  }
}

cudaError_t write(const cudaGraphNodeParams& from, CUgraphNodeParams* to) {
  *to = {};
  to->type = as_driver<CUgraphNodeType>(from.type);
  if (from.type == cudaGraphNodeTypeKernel) {
    if (from.kernel.ctx) return cudaErrorNotSupported;
    write_launch(from.kernel, &to->kernel);
  } else if (from.type == cudaGraphNodeTypeMemcpy) {
    pitched_copy copy;
    if (from.memcpy.ctx) return cudaErrorNotSupported;
    if (const cudaError_t code = read_parameters(from.memcpy.copyParams, &copy)) return code;
    to->memcpy.flags = from.memcpy.flags;
    to->memcpy.copyParams = for_driver(copy);
  } else {
    std::memcpy(static_cast<void*>(to), &from, sizeof from);
  }
  CUcontext* const context = context_in(*to);
  if (context && *context) return cudaErrorNotSupported;  // of green contexts there are none
  if (context) *context = current_context();
  return cudaSuccess;
}

cudaError_t read(CUgraphNodeParams from, cudaGraphNodeParams* to) {
  if (CUcontext* const context = context_in(from)) *context = nullptr;
  *to = {};
  to->type = static_cast<cudaGraphNodeType>(from.type);
  if (to->type == cudaGraphNodeTypeKernel) {
    read_launch(from.kernel, &to->kernel);
    to->kernel.functionType =
        from.kernel.kern ? cudaKernelFunctionTypeKernel : cudaKernelFunctionTypeFunction;
    return cudaSuccess;
  }
  if (to->type == cudaGraphNodeTypeMemcpy) {
    to->memcpy.flags = from.memcpy.flags;
    return read_driver(from.memcpy.copyParams, &to->memcpy.copyParams);
  }
  std::memcpy(static_cast<void*>(to), &from, sizeof from);
  return cudaSuccess;
}

// Calls with the driver's form of the parameters, then hands back what the driver filled in.
template <class Call>
cudaError_t with_parameters(cudaGraphNodeParams* given, Call call) {
  CUgraphNodeParams request;
  if (!given) return cudaErrorInvalidValue;
  if (const cudaError_t code = write(*given, &request)) return code;
  if (const cudaError_t code = call(&request)) return code;
  return is_described_differently(given->type) ? cudaSuccess : read(request, given);
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
  CUgraphNodeParams told{};
  if (!nodeParams) return cudaErrorInvalidValue;
  if (const cudaError_t code = forward(table->cuGraphNodeGetParams, node, &told)) return code;
  return read(told, nodeParams);
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* pHandle_out,
                                             cudaGraph_t graph, unsigned int defaultLaunchValue,
                                             unsigned int flags) noexcept {
  return forward(table->cuGraphConditionalHandleCreate, pHandle_out, graph, current_context(),
                 defaultLaunchValue, flags);
}

}  // namespace halfwarp::emulated_runtime::api
