// SPDX-License-Identifier: Apache-2.0
// Changes single nodes of executable graphs. Pending launches are not affected.
#include "emulator/api/graph/graph_call.hpp"
#include "emulator/graph/graph_exec.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator::api {
namespace {

struct exec_node {
  std::shared_ptr<graph_exec> exec;
  graph_node* node;
};

exec_node find_node(const call& c, CUgraphExec raw, CUgraphNode original) {
  const auto exec = exec_of(c, raw);
  auto* const node = exec->clone_of(*node_of(c, original));
  require(node != nullptr, CUDA_ERROR_INVALID_VALUE,
          "the node does not belong to the instantiated graph");
  return {exec, node};
}

void require_type(const graph_node& node, CUgraphNodeType type) {
  require(node.work.type == type, CUDA_ERROR_INVALID_VALUE, "the node has another type");
}

bool is_one_row(const node_work& work) {
  CUgraphNodeParams params{};
  work.operation->describe(params);
  return params.memcpy.copyParams.Height <= 1 && params.memcpy.copyParams.Depth <= 1;
}

void set(const exec_node& target, node_work work) {
  require(
      check_change(target.node->work, work, target.exec->flags()) == CU_GRAPH_EXEC_UPDATE_SUCCESS,
      CUDA_ERROR_INVALID_VALUE, "an executable graph cannot make this change to the node");
  const bool is_copy = work.type == CU_GRAPH_NODE_TYPE_MEMCPY;
  require(!is_copy || (is_one_row(target.node->work) && is_one_row(work)), CUDA_ERROR_INVALID_VALUE,
          "an executable graph can change one-row copies only");
  target.node->work = std::move(work);
  target.exec->invalidate_plan();
}

CUresult change(CUgraphExec raw, CUgraphNode node, CUgraphNodeType type, const void* params,
                const auto& create_work) {
  return run_locked([&](call& c) {
    require_outputs(params);
    const auto target = find_node(c, raw, node);
    require_type(*target.node, type);
    set(target, create_work(c, *target.node));
  });
}

void set_child(call& c, const exec_node& target, CUgraph raw) {
  const auto outcome = update_child(*target.exec, *target.node, *graph_of(c, raw));
  require(outcome.result == CU_GRAPH_EXEC_UPDATE_SUCCESS, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
          "the child graphs differ in a way that an executable graph cannot adopt");
}

bool can_be_disabled(CUgraphNodeType type) { return type <= CU_GRAPH_NODE_TYPE_MEMSET; }

}  // namespace

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                  CUgraphNodeParams* nodeParams) noexcept {
  return run_locked([&](call& c) {
    require_outputs(nodeParams);
    const auto target = find_node(c, hGraphExec, hNode);
    require_type(*target.node, nodeParams->type);
    switch (nodeParams->type) {
      case CU_GRAPH_NODE_TYPE_GRAPH:
        return set_child(c, target, nodeParams->graph.graph);
      case CU_GRAPH_NODE_TYPE_KERNEL:
        return set(target, kernel_work(c, nodeParams->kernel, target.node->work.attributes));
      case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      case CU_GRAPH_NODE_TYPE_MEM_FREE:
      case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        refuse(CUDA_ERROR_NOT_SUPPORTED,
               "parameters of allocation, free and conditional nodes cannot be changed");
      default:
        return set(target, work_of(c, target.node->owner(), *nodeParams));
    }
  });
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return change(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams,
                [&](call& c, const graph_node& node) {
                  return kernel_work(c, newer(*nodeParams), node.work.attributes);
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
  return run_locked([&](call& c) {
    const auto target = find_node(c, hGraphExec, hNode);
    require_type(*target.node, CU_GRAPH_NODE_TYPE_GRAPH);
    set_child(c, target, childGraph);
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
  return run_locked([&](call& c) {
    const auto target = find_node(c, hGraphExec, hNode);
    require(can_be_disabled(target.node->work.type), CUDA_ERROR_INVALID_VALUE,
            "only kernel, copy and memset nodes can be disabled");
    target.node->is_enabled = isEnabled != 0;
    target.exec->invalidate_plan();
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                               unsigned int* isEnabled) noexcept {
  return run_locked([&](call& c) {
    require_outputs(isEnabled);
    const auto target = find_node(c, hGraphExec, hNode);
    require(can_be_disabled(target.node->work.type), CUDA_ERROR_INVALID_VALUE,
            "only kernel, copy and memset nodes can be disabled");
    *isEnabled = target.node->is_enabled;
  });
}

}  // namespace halfwarp::emulator::api
