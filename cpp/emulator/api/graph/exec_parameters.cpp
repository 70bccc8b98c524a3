// SPDX-License-Identifier: Apache-2.0
// Changing single nodes of executable graphs. Launches that are under way are not changed.
#include "emulator/api/graph/graph_call.hpp"
#include "emulator/graph/graph_exec.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator::api {
namespace {

struct changed_node {
  std::shared_ptr<graph_exec> in;
  graph_node* twin;
};

changed_node changed_of(const call& c, CUgraphExec raw, CUgraphNode node) {
  const auto in = exec_of(c, raw);
  auto* const twin = in->twin_of(*node_of(c, node));
  require(twin != nullptr, CUDA_ERROR_INVALID_VALUE,
          "the node is not of the graph that was instantiated");
  return {in, twin};
}

void require_type(const graph_node& of, CUgraphNodeType type) {
  require(of.work.type == type, CUDA_ERROR_INVALID_VALUE, "the node is of another kind");
}

bool is_one_row(const node_work& work) {
  CUgraphNodeParams known{};
  work.done->describe(known);
  return known.memcpy.copyParams.Height <= 1 && known.memcpy.copyParams.Depth <= 1;
}

void set(const changed_node& changed, node_work work) {
  require(
      check_change(changed.twin->work, work, changed.in->flags()) == CU_GRAPH_EXEC_UPDATE_SUCCESS,
      CUDA_ERROR_INVALID_VALUE, "an executable cannot change this about the node");
  const bool is_copy = work.type == CU_GRAPH_NODE_TYPE_MEMCPY;
  require(!is_copy || (is_one_row(changed.twin->work) && is_one_row(work)),
          CUDA_ERROR_INVALID_VALUE, "an executable changes copies of one row only");
  changed.twin->work = std::move(work);
  changed.in->change();
}

CUresult change(CUgraphExec raw, CUgraphNode node, CUgraphNodeType type, const void* given,
                const auto& make) {
  return answer([&](call& c) {
    require_outputs(given);
    const auto changed = changed_of(c, raw, node);
    require_type(*changed.twin, type);
    set(changed, make(c, *changed.twin));
  });
}

void set_child(call& c, const changed_node& changed, CUgraph raw) {
  const auto outcome = update_child(*changed.in, *changed.twin, *graph_of(c, raw));
  require(outcome.result == CU_GRAPH_EXEC_UPDATE_SUCCESS, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
          "the two child graphs differ in what an executable cannot change");
}

bool may_be_disabled(CUgraphNodeType type) { return type <= CU_GRAPH_NODE_TYPE_MEMSET; }

}  // namespace

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                  CUgraphNodeParams* nodeParams) noexcept {
  return answer([&](call& c) {
    require_outputs(nodeParams);
    const auto changed = changed_of(c, hGraphExec, hNode);
    require_type(*changed.twin, nodeParams->type);
    switch (nodeParams->type) {
      case CU_GRAPH_NODE_TYPE_GRAPH:
        return set_child(c, changed, nodeParams->graph.graph);
      case CU_GRAPH_NODE_TYPE_KERNEL:
        return set(changed, kernel_work(c, nodeParams->kernel, changed.twin->work.attributes));
      case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      case CU_GRAPH_NODE_TYPE_MEM_FREE:
      case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        refuse(CUDA_ERROR_NOT_SUPPORTED,
               "nodes that allocate, free or choose keep their parameters");
      default:
        return set(changed, work_of(c, changed.twin->in(), *nodeParams));
    }
  });
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return change(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams,
                [&](call& c, const graph_node& of) {
                  return kernel_work(c, newer(*nodeParams), of.work.attributes);
                });
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMCPY3D* copyParams, CUcontext ctx) noexcept {
  return change(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMCPY, copyParams,
                [&](call& c, const graph_node&) { return copy_work(c, *copyParams, ctx); });
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS* memsetParams,
                                        CUcontext ctx) noexcept {
  return change(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMSET, memsetParams,
                [&](call& c, const graph_node&) { return fill_work(c, *memsetParams, ctx); });
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS* nodeParams) noexcept {
  return change(
      hGraphExec, hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams,
      [&](call&, const graph_node&) { return host_work(nodeParams->fn, nodeParams->userData); });
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUgraph childGraph) noexcept {
  return answer([&](call& c) {
    const auto changed = changed_of(c, hGraphExec, hNode);
    require_type(*changed.twin, CU_GRAPH_NODE_TYPE_GRAPH);
    set_child(c, changed, childGraph);
  });
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUevent event) noexcept {
  constexpr auto type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  return change(hGraphExec, hNode, type, &event,
                [&](call& c, const graph_node&) { return event_work(c, type, event); });
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                          CUevent event) noexcept {
  constexpr auto type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  return change(hGraphExec, hNode, type, &event,
                [&](call& c, const graph_node&) { return event_work(c, type, event); });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                               unsigned int isEnabled) noexcept {
  return answer([&](call& c) {
    const auto changed = changed_of(c, hGraphExec, hNode);
    require(may_be_disabled(changed.twin->work.type), CUDA_ERROR_INVALID_VALUE,
            "kernels, copies and memsets alone are disabled");
    changed.twin->is_enabled = isEnabled != 0;
    changed.in->change();
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                               unsigned int* isEnabled) noexcept {
  return answer([&](call& c) {
    require_outputs(isEnabled);
    const auto asked = changed_of(c, hGraphExec, hNode);
    require(may_be_disabled(asked.twin->work.type), CUDA_ERROR_INVALID_VALUE,
            "kernels, copies and memsets alone are disabled");
    *isEnabled = asked.twin->is_enabled;
  });
}

}  // namespace halfwarp::emulator::api
