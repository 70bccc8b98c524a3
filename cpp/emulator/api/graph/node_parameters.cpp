// SPDX-License-Identifier: Apache-2.0
// Reads and changes the parameters of nodes.
#include "emulator/api/graph/graph_call.hpp"

namespace halfwarp::emulator::api {
namespace {

// Writes the parameters of a node; refuses a node of another type.
template <class Parameters>
CUresult read(CUgraphNode raw, CUgraphNodeType type, Parameters* out, const auto& member_of) {
  return run_locked([&](call& c) {
    require_outputs(out);
    const auto node = node_of(c, raw);
    require(node->work.type == type, CUDA_ERROR_INVALID_VALUE, "the node has another type");
    *out = member_of(parameters_of(*node));
  });
}

// Replaces the work of a node. Executable graphs retain the previous work.
void replace(call& c, graph_node& node, node_work work) {
  auto previous = std::exchange(node.work, std::move(work));
  if (!previous.child) return;
  previous.child->clear(c.d);
  c.d.objects.remove(*previous.child);
}

CUresult write(CUgraphNode raw, const void* params, CUgraphNodeType type, const auto& create_work) {
  return run_locked([&](call& c) {
    require_outputs(params);
    const auto node = node_of(c, raw);
    require(node->work.type == type, CUDA_ERROR_INVALID_VALUE, "the node has another type");
    replace(c, *node, create_work(c, *node));
  });
}

bool is_fixed(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
         type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

CUresult set_parameters(CUgraphNode raw, CUgraphNodeParams* params, bool checks_context) {
  return run_locked([&](call& c) {
    require_outputs(params);
    const auto node = node_of(c, raw);
    require(node->work.type == params->type, CUDA_ERROR_INVALID_VALUE, "the node has another type");
    require(!is_fixed(params->type), CUDA_ERROR_NOT_SUPPORTED,
            "parameters of allocation, free and conditional nodes cannot be changed");
    require(params->type != CU_GRAPH_NODE_TYPE_GRAPH ||
                params->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE,
            CUDA_ERROR_INVALID_VALUE, "a child graph can only be replaced by a clone");
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL) {
      auto attributes = node->work.attributes;
      replace(c, *node, kernel_work(c, params->kernel, std::move(attributes), checks_context));
    } else {
      replace(c, *node, work_of(c, node->owner(), *params));
    }
  });
}

}  // namespace

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) noexcept {
  return run_locked([&](call& c) {
    require_outputs(type);
    *type = node_of(c, hNode)->work.type;
  });
}

CUresult cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int* nodeId) noexcept {
  return run_locked([&](call& c) {
    require_outputs(nodeId);
    *nodeId = node_of(c, hNode)->local_id();
  });
}

CUresult cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long* toolsNodeId) noexcept {
  return run_locked([&](call& c) {
    require_outputs(toolsNodeId);
    *toolsNodeId = node_of(c, hNode)->id();
  });
}

CUresult cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) noexcept {
  return run_locked([&](call& c) {
    require_outputs(nodeParams);
    *nodeParams = parameters_of(*node_of(c, hNode));
  });
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) noexcept {
  return set_parameters(hNode, nodeParams, false);
}

CUresult cuGraphNodeSetParams_v2(CUgraphNode hNode, CUgraphNodeParams* nodeParams) noexcept {
  return set_parameters(hNode, nodeParams, true);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode,
                                       CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams,
              [](const CUgraphNodeParams& params) { return older(params.kernel); });
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode,
                                       const CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return write(hNode, nodeParams, CU_GRAPH_NODE_TYPE_KERNEL, [&](call& c, const graph_node& node) {
    return kernel_work(c, newer(*nodeParams), node.work.attributes);
  });
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, nodeParams,
              [](const CUgraphNodeParams& params) { return params.memcpy.copyParams; });
}

// Retains the context of the node.
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) noexcept {
  return write(hNode, nodeParams, CU_GRAPH_NODE_TYPE_MEMCPY, [&](call& c, const graph_node& node) {
    return copy_work(c, *nodeParams, node.work.context->handle_as<CUcontext>());
  });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode,
                                    CUDA_MEMSET_NODE_PARAMS* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEMSET, nodeParams,
              [](const CUgraphNodeParams& params) { return older(params.memset); });
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode,
                                    const CUDA_MEMSET_NODE_PARAMS* nodeParams) noexcept {
  return write(hNode, nodeParams, CU_GRAPH_NODE_TYPE_MEMSET, [&](call& c, const graph_node& node) {
    return fill_work(c, *nodeParams, node.work.context->handle_as<CUcontext>());
  });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, [](const CUgraphNodeParams& params) {
    return CUDA_HOST_NODE_PARAMS{params.host.fn, params.host.userData};
  });
}

CUresult cuGraphHostNodeSetParams(CUgraphNode hNode,
                                  const CUDA_HOST_NODE_PARAMS* nodeParams) noexcept {
  return write(hNode, nodeParams, CU_GRAPH_NODE_TYPE_HOST, [&](call&, const graph_node&) {
    return host_work(nodeParams->fn, nodeParams->userData);
  });
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_GRAPH, phGraph,
              [](const CUgraphNodeParams& params) { return params.graph.graph; });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_out,
              [](const CUgraphNodeParams& params) { return params.eventRecord.event; });
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) noexcept {
  constexpr auto type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  return write(hNode, &event, type,
               [&](call& c, const graph_node&) { return event_work(c, type, event); });
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_out,
              [](const CUgraphNodeParams& params) { return params.eventWait.event; });
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) noexcept {
  constexpr auto type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  return write(hNode, &event, type,
               [&](call& c, const graph_node&) { return event_work(c, type, event); });
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode,
                                      CUDA_MEM_ALLOC_NODE_PARAMS* params_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, params_out, [](const CUgraphNodeParams& params) {
    const auto& p = params.alloc;
    return CUDA_MEM_ALLOC_NODE_PARAMS{p.poolProps, p.accessDescs, p.accessDescCount, p.bytesize,
                                      p.dptr};
  });
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, dptr_out,
              [](const CUgraphNodeParams& params) { return params.free.dptr; });
}

}  // namespace halfwarp::emulator::api
