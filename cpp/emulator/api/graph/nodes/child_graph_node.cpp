// SPDX-License-Identifier: Apache-2.0
// Nodes that run a child graph, which they own.
#include "emulator/api/graph/node_kinds.hpp"

namespace halfwarp::emulator::api {
namespace {

class child_graph_work final : public node_work {
 public:
  explicit child_graph_work(std::shared_ptr<graph> child)
      : node_work{child_graph_kind.traits, nullptr, {std::move(child)}} {}

  std::shared_ptr<const node_work> with_graphs(graph_list list) const override {
    return std::make_shared<child_graph_work>(std::move(list.front()));
  }

 private:
  void describe(CUgraphNodeParams& params) const override {
    params.graph = {graphs.front()->handle_as<CUgraph>(), CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID};
  }
};

void require_cloneable(const graph& source) {
  require(!source.allocates() && !source.has_nodes_of(CU_GRAPH_NODE_TYPE_CONDITIONAL),
          CUDA_ERROR_NOT_SUPPORTED,
          "a graph that allocates or frees memory, or has conditional nodes, cannot be copied into "
          "a node; one that allocates can be moved");
}

// Moves the ownership of a graph's memory to the graph that it is moved into.
void move_memory(const graph& moved, const graph& owner) {
  for (const auto& each : moved.nodes()) {
    const auto allocated = each->work->allocated_memory(), freed = each->work->freed_memory();
    if (allocated && allocated->allocated_in == moved.id()) allocated->allocated_in = owner.id();
    if (freed && freed->freed_in == moved.id()) freed->freed_in = owner.id();
  }
}

std::shared_ptr<graph> moved_child(call& c, const std::shared_ptr<graph>& moved,
                                   const graph& owner) {
  require(&owner != moved.get() && !moved->belongs_to_node() && moved->executable.expired(),
          CUDA_ERROR_INVALID_VALUE,
          "only a graph without an owner node and without an executable graph can be moved into a "
          "node");
  require(!moved->has_nodes_of(CU_GRAPH_NODE_TYPE_CONDITIONAL), CUDA_ERROR_NOT_SUPPORTED,
          "a child graph cannot have conditional nodes");
  for (const auto& each : c.d.captures) {
    require(each->graph != moved, CUDA_ERROR_INVALID_VALUE,
            "a capture into the graph is in progress");
  }
  move_memory(*moved, owner);
  moved->assign_to_node(graph_owner::child_node, owner);
  moved->was_moved = true;
  return moved;
}

std::shared_ptr<node_work> create(const node_request& request) {
  auto& [c, owner, params, current, context_from] = request;
  const auto& p = params.graph;
  const bool is_clone = p.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
  require(is_clone || !current, CUDA_ERROR_INVALID_VALUE,
          "a child graph can only be replaced by a clone");
  const auto source = graph_of(c, p.graph);
  if (p.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
    return std::make_shared<child_graph_work>(moved_child(c, source, owner));
  }
  require(is_clone, CUDA_ERROR_INVALID_VALUE, "a child graph is cloned or moved");
  require_cloneable(*source);
  auto child = clone(c.d, *source);
  child->assign_to_node(graph_owner::child_node, owner);
  return std::make_shared<child_graph_work>(std::move(child));
}

void change(call& c, const exec_node& target, const CUgraphNodeParams& params) {
  const auto outcome = update_child(*target.exec, *target.node, *graph_of(c, params.graph.graph));
  require(outcome.result == CU_GRAPH_EXEC_UPDATE_SUCCESS, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
          "the child graphs differ in a way that an executable graph cannot adopt");
}

CUgraphNodeParams* convert(CUgraph child,
                           CUgraphNodeParams&& params = params_of(CU_GRAPH_NODE_TYPE_GRAPH)) {
  params.graph = {child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE};
  return &params;
}

}  // namespace

constexpr node_kind child_graph_kind{
    .traits = {.type = CU_GRAPH_NODE_TYPE_GRAPH,
               .name = "GRAPH",
               .runs_in_device_launches = true,
               .runs_in_bodies = true},
    .create = create,
    .change = change,
};

CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                  const CUgraphNode* dependencies, size_t numDependencies,
                                  CUgraph childGraph) noexcept {
  return add_node({phGraphNode, hGraph, dependencies, numDependencies}, convert(childGraph));
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_GRAPH, phGraph,
              [](const CUgraphNodeParams& params) { return params.graph.graph; });
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUgraph childGraph) noexcept {
  return set_exec_node(hGraphExec, hNode, convert(childGraph));
}

}  // namespace halfwarp::emulator::api
