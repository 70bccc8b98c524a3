// SPDX-License-Identifier: Apache-2.0
// Adds, reads and changes nodes of each type. Changes do not affect pending launches.
#include "emulator/api/graph/node_kinds.hpp"
#include "emulator/object/current_call.hpp"

namespace halfwarp::emulator::api {
namespace {

exec_node find_node(const call& c, CUgraphExec raw, CUgraphNode original) {
  const auto exec = exec_of(c, raw);
  auto* const node = exec->clone_of(*node_of(c, original));
  require(node != nullptr, CUDA_ERROR_INVALID_VALUE,
          "the node does not belong to the instantiated graph");
  return {exec, node};
}

void require_type(const graph_node& node, CUgraphNodeType type) {
  require(node.type() == type, CUDA_ERROR_INVALID_VALUE, "the node has another type");
}

const node_kind& changeable_kind(CUgraphNodeType type) {
  const auto& kind = kind_of(type);
  require(!kind.has_fixed_parameters, CUDA_ERROR_NOT_SUPPORTED,
          "parameters of allocation, free and conditional nodes cannot be changed");
  return kind;
}

exec_node find_switchable(const call& c, CUgraphExec raw, CUgraphNode original) {
  const auto target = find_node(c, raw, original);
  require(target.node->work->traits.can_be_disabled, CUDA_ERROR_INVALID_VALUE,
          "only kernel, copy and memset nodes can be disabled");
  return target;
}

}  // namespace

const node_kind& kind_of(CUgraphNodeType type) {
  require(std::ranges::find(refused_types, type) == std::end(refused_types),
          CUDA_ERROR_NOT_SUPPORTED, "the emulator does not support nodes of this type");
  const auto match = std::ranges::find_if(
      node_kinds, [type](const node_kind* each) { return each->traits.type == type; });
  require(match != std::end(node_kinds), CUDA_ERROR_INVALID_VALUE, "cuda.h has no such node type");
  return **match;
}

std::shared_ptr<node_work> create_work(call& c, graph& owner, CUgraphNodeParams& params) {
  return kind_of(params.type).create({c, owner, params});
}

std::shared_ptr<context> context_or_current(const call& c, CUcontext raw) {
  return raw ? c.context_of(raw) : c.current();
}

std::shared_ptr<context> context_for(const node_request& request, CUcontext raw) {
  if (request.context_from == context_source::node) {
    raw = request.current->context->handle_as<CUcontext>();
  }
  return context_or_current(request.c, raw);
}

CUresult add_node(const new_node& request, CUgraphNodeParams* params, context_source context_from) {
  return run_locked([&](call& c) {
    require_outputs(request.out, params);
    const auto target = graph_of(c, request.graph);
    const auto dependencies = nodes_of(c, request.dependencies, request.count);
    target->require_dependencies(dependencies);
    const auto data = data_of(request.data, request.count);
    auto work = kind_of(params->type).create({c, *target, *params, nullptr, context_from});
    for (std::size_t i = 0; i < data.size(); ++i) {
      check_edge(*dependencies[i], params->type, data[i]);
    }
    auto& node = target->add(c.d, std::move(work), dependencies, data);
    node.created_at = call_site();
    *request.out = node.handle_as<CUgraphNode>();
  });
}

CUresult set_node(CUgraphNode raw, CUgraphNodeParams* params, context_source context_from) {
  return run_locked([&](call& c) {
    require_outputs(params);
    const auto node = node_of(c, raw);
    require_type(*node, params->type);
    const auto& kind = changeable_kind(params->type);
    replace_work(c, *node,
                 kind.create({c, node->owner(), *params, node->work.get(), context_from}));
  });
}

CUresult set_exec_node(CUgraphExec exec, CUgraphNode raw, CUgraphNodeParams* params) {
  return run_locked([&](call& c) {
    require_outputs(params);
    const auto target = find_node(c, exec, raw);
    require_type(*target.node, params->type);
    const auto& kind = changeable_kind(params->type);
    if (kind.change) return kind.change(c, target, *params);
    auto& current = target.node->work;
    std::shared_ptr<const node_work> work =
        kind.create({c, target.node->owner(), *params, current.get()});
    require(check_change(*current, *work, target.exec->flags()) == CU_GRAPH_EXEC_UPDATE_SUCCESS,
            CUDA_ERROR_INVALID_VALUE, "an executable graph cannot make this change to the node");
    current->require_single_change(*work);
    current = std::move(work);
    target.exec->invalidate_plan();
  });
}

CUresult read_node(CUgraphNode raw, CUgraphNodeType type, const void* out,
                   CUgraphNodeParams& params) {
  return run_locked([&](call& c) {
    require_outputs(out);
    const auto node = node_of(c, raw);
    require_type(*node, type);
    params = node->work->parameters();
  });
}

void replace_work(call& c, graph_node& node, std::shared_ptr<const node_work> work) {
  destroy_graphs(c.d, *std::exchange(node.work, std::move(work)));
}

CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                           const CUgraphNode* dependencies, const CUgraphEdgeData* dependencyData,
                           size_t numDependencies, CUgraphNodeParams* nodeParams) noexcept {
  return add_node({phGraphNode, hGraph, dependencies, numDependencies, dependencyData}, nodeParams);
}

CUresult cuGraphAddNode_v3(CUgraphNode* phGraphNode, CUgraph hGraph,
                           const CUgraphNode* dependencies, const CUgraphEdgeData* dependencyData,
                           size_t numDependencies, CUgraphNodeParams* nodeParams) noexcept {
  return add_node({phGraphNode, hGraph, dependencies, numDependencies, dependencyData}, nodeParams,
                  context_source::checked_parameters);
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) noexcept {
  return run_locked([&](call& c) {
    require_outputs(type);
    *type = node_of(c, hNode)->type();
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
    *nodeParams = node_of(c, hNode)->work->parameters();
  });
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) noexcept {
  return set_node(hNode, nodeParams);
}

CUresult cuGraphNodeSetParams_v2(CUgraphNode hNode, CUgraphNodeParams* nodeParams) noexcept {
  return set_node(hNode, nodeParams, context_source::checked_parameters);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                  CUgraphNodeParams* nodeParams) noexcept {
  return set_exec_node(hGraphExec, hNode, nodeParams);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                               unsigned int isEnabled) noexcept {
  return run_locked([&](call& c) {
    const auto target = find_switchable(c, hGraphExec, hNode);
    target.node->is_enabled = isEnabled != 0;
    target.exec->invalidate_plan();
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                               unsigned int* isEnabled) noexcept {
  return run_locked([&](call& c) {
    require_outputs(isEnabled);
    *isEnabled = find_switchable(c, hGraphExec, hNode).node->is_enabled;
  });
}

}  // namespace halfwarp::emulator::api
