// SPDX-License-Identifier: Apache-2.0
// Asking about nodes, and changing what they do.
#include "emulator/api/graph/graph_call.hpp"

namespace halfwarp::emulator::api {
namespace {

// The parameters of a node of one kind; refuses a node of another.
template <class Parameters>
CUresult read(CUgraphNode raw, CUgraphNodeType type, Parameters* out, const auto& from) {
  return answer([&](call& c) {
    require_outputs(out);
    const auto asked = node_of(c, raw);
    require(asked->work.type == type, CUDA_ERROR_INVALID_VALUE, "the node is of another kind");
    *out = from(parameters_of(*asked));
  });
}

// Another work for a node of the same kind. Executables keep the one that they were made with.
void replace(call& c, graph_node& changed, node_work work) {
  auto gone = std::exchange(changed.work, std::move(work));
  if (!gone.child) return;
  gone.child->clear(c.d);
  c.d.objects.remove(*gone.child);
}

CUresult write(CUgraphNode raw, const void* given, CUgraphNodeType type, const auto& make) {
  return answer([&](call& c) {
    require_outputs(given);
    const auto changed = node_of(c, raw);
    require(changed->work.type == type, CUDA_ERROR_INVALID_VALUE, "the node is of another kind");
    replace(c, *changed, make(c, *changed));
  });
}

bool is_fixed(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
         type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

CUresult set_parameters(CUgraphNode raw, CUgraphNodeParams* given, bool checks_context) {
  return answer([&](call& c) {
    require_outputs(given);
    const auto changed = node_of(c, raw);
    require(changed->work.type == given->type, CUDA_ERROR_INVALID_VALUE,
            "the node is of another kind");
    require(!is_fixed(given->type), CUDA_ERROR_NOT_SUPPORTED,
            "nodes that allocate, free or choose keep their parameters");
    require(given->type != CU_GRAPH_NODE_TYPE_GRAPH ||
                given->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE,
            CUDA_ERROR_INVALID_VALUE, "a child graph is exchanged for a clone");
    if (given->type == CU_GRAPH_NODE_TYPE_KERNEL) {
      auto attributes = changed->work.attributes;
      replace(c, *changed, kernel_work(c, given->kernel, std::move(attributes), checks_context));
    } else {
      replace(c, *changed, work_of(c, changed->in(), *given));
    }
  });
}

}  // namespace

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) noexcept {
  return answer([&](call& c) {
    require_outputs(type);
    *type = node_of(c, hNode)->work.type;
  });
}

CUresult cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int* nodeId) noexcept {
  return answer([&](call& c) {
    require_outputs(nodeId);
    *nodeId = node_of(c, hNode)->place();
  });
}

CUresult cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long* toolsNodeId) noexcept {
  return answer([&](call& c) {
    require_outputs(toolsNodeId);
    *toolsNodeId = node_of(c, hNode)->id();
  });
}

CUresult cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) noexcept {
  return answer([&](call& c) {
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
              [](const CUgraphNodeParams& known) { return older(known.kernel); });
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode,
                                       const CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return write(hNode, nodeParams, CU_GRAPH_NODE_TYPE_KERNEL, [&](call& c, const graph_node& of) {
    return kernel_work(c, newer(*nodeParams), of.work.attributes);
  });
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, nodeParams,
              [](const CUgraphNodeParams& known) { return known.memcpy.copyParams; });
}

// The context of the node stays.
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) noexcept {
  return write(hNode, nodeParams, CU_GRAPH_NODE_TYPE_MEMCPY, [&](call& c, const graph_node& of) {
    return copy_work(c, *nodeParams, of.work.where->handle_as<CUcontext>());
  });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode,
                                    CUDA_MEMSET_NODE_PARAMS* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEMSET, nodeParams,
              [](const CUgraphNodeParams& known) { return older(known.memset); });
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode,
                                    const CUDA_MEMSET_NODE_PARAMS* nodeParams) noexcept {
  return write(hNode, nodeParams, CU_GRAPH_NODE_TYPE_MEMSET, [&](call& c, const graph_node& of) {
    return fill_work(c, *nodeParams, of.work.where->handle_as<CUcontext>());
  });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, [](const CUgraphNodeParams& known) {
    return CUDA_HOST_NODE_PARAMS{known.host.fn, known.host.userData};
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
              [](const CUgraphNodeParams& known) { return known.graph.graph; });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_out,
              [](const CUgraphNodeParams& known) { return known.eventRecord.event; });
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) noexcept {
  constexpr auto type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  return write(hNode, &event, type,
               [&](call& c, const graph_node&) { return event_work(c, type, event); });
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_out,
              [](const CUgraphNodeParams& known) { return known.eventWait.event; });
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) noexcept {
  constexpr auto type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  return write(hNode, &event, type,
               [&](call& c, const graph_node&) { return event_work(c, type, event); });
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode,
                                      CUDA_MEM_ALLOC_NODE_PARAMS* params_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, params_out, [](const CUgraphNodeParams& known) {
    const auto& p = known.alloc;
    return CUDA_MEM_ALLOC_NODE_PARAMS{p.poolProps, p.accessDescs, p.accessDescCount, p.bytesize,
                                      p.dptr};
  });
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, dptr_out,
              [](const CUgraphNodeParams& known) { return known.free.dptr; });
}

}  // namespace halfwarp::emulator::api
