// SPDX-License-Identifier: Apache-2.0
// Creates, queries, clones, connects and destroys graphs.
#include "emulator/graph/graph.hpp"

#include <cstring>
#include <fstream>

#include "emulator/api/graph/graph_call.hpp"
#include "emulator/graph/capture.hpp"

namespace halfwarp::emulator::api {
namespace {

CUgraphNode raw_node(const graph_node* each) { return each->handle_as<CUgraphNode>(); }

// Adds or removes edges in order. If an edge is refused, the earlier ones stay changed.
CUresult change_edges(CUgraph raw, const CUgraphNode* from, const CUgraphNode* to,
                      const CUgraphEdgeData* data, std::size_t count, bool adds) {
  return run_locked([&](call& c) {
    const auto target = graph_of(c, raw);
    const auto edge_data = data_of(data, count);
    const auto first = nodes_of(c, from, count), second = nodes_of(c, to, count);
    require(adds || count == 0 || !target->allocates(), CUDA_ERROR_NOT_SUPPORTED,
            "a graph that allocates or frees memory cannot lose nodes or edges");
    for (std::size_t i = 0; i < edge_data.size(); ++i) {
      check_edge(*first[i], second[i]->type(), edge_data[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (adds) {
        target->connect(*first[i], *second[i],
                        edge_data.empty() ? CUgraphEdgeData{} : edge_data[i]);
      } else {
        target->disconnect(*first[i], *second[i], edge_data.empty() ? nullptr : &edge_data[i]);
      }
    }
  });
}

// Writes one end of each edge, and the edge data.
void write_ends(const std::vector<graph_edge>& edges, graph_node* graph_edge::*end,
                CUgraphNode* list, CUgraphEdgeData* data, std::size_t* count) {
  require_outputs(count);
  auto capacity = *count;
  write_list(edges, count, list, [&](const graph_edge& e) { return raw_node(e.*end); });
  if (list && data) write_list(edges, &capacity, data, [](const graph_edge& e) { return e.data; });
}

}  // namespace

std::vector<graph_node*> nodes_of(const call& c, const CUgraphNode* list, std::size_t count) {
  require(list != nullptr || count == 0, CUDA_ERROR_INVALID_VALUE, "the list of nodes is null");
  std::vector<graph_node*> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back(node_of(c, list[i]).get());
  return nodes;
}

std::span<const CUgraphEdgeData> data_of(const CUgraphEdgeData* list, std::size_t count) {
  constexpr unsigned char zeros[sizeof list->reserved] = {};
  for (std::size_t i = 0; list && i < count; ++i) {
    require(list[i].to_port == 0 && std::memcmp(list[i].reserved, zeros, sizeof zeros) == 0,
            CUDA_ERROR_INVALID_VALUE, "to_port and the reserved bytes must be 0");
  }
  return list ? std::span{list, count} : std::span<const CUgraphEdgeData>{};
}

void check_edge(const graph_node& from, CUgraphNodeType to, const CUgraphEdgeData& data) {
  if (data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT) {
    require(data.from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT, CUDA_ERROR_INVALID_VALUE,
            "a default dependency needs from_port 0");
    return;
  }
  const bool is_between_kernels =
      from.type() == CU_GRAPH_NODE_TYPE_KERNEL && to == CU_GRAPH_NODE_TYPE_KERNEL;
  const bool is_port = data.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
                       data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
  require(data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && is_between_kernels && is_port,
          CUDA_ERROR_INVALID_VALUE,
          "a programmatic dependency connects kernel nodes, from a programmatic port");
}

CUresult cuGraphCreate(CUgraph* phGraph, unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(phGraph);
    require(flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags must be 0");
    *phGraph = c.d.objects.make<graph>()->handle_as<CUgraph>();
  });
}

CUresult cuGraphDestroy(CUgraph hGraph) noexcept {
  return run_locked([&](call& c) {
    const auto target = graph_of(c, hGraph);
    require(!target->belongs_to_node(), CUDA_ERROR_INVALID_VALUE, "the graph belongs to a node");
    for (const auto& each : c.d.captures) {
      if (each->graph == target) each->is_valid = false;
    }
    target->clear(c.d);
    c.d.objects.remove(*target);
  });
}

CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) noexcept {
  return run_locked([&](call& c) {
    require_outputs(phGraphClone);
    const auto original = graph_of(c, originalGraph);
    require(!original->allocates() && !original->has_nodes_of(CU_GRAPH_NODE_TYPE_CONDITIONAL),
            CUDA_ERROR_NOT_SUPPORTED,
            "a graph that allocates or frees memory, or has conditional nodes, cannot be cloned");
    *phGraphClone = clone(c.d, *original)->handle_as<CUgraph>();
  });
}

CUresult cuGraphGetId(CUgraph hGraph, unsigned int* graphId) noexcept {
  return run_locked([&](call& c) {
    require_outputs(graphId);
    *graphId = static_cast<unsigned>(graph_of(c, hGraph)->id());
  });
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) noexcept {
  return run_locked([&](call& c) {
    write_list(graph_of(c, hGraph)->nodes(), numNodes, nodes,
               [](const auto& each) { return raw_node(each.get()); });
  });
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes,
                             size_t* numRootNodes) noexcept {
  return run_locked([&](call& c) {
    write_list(graph_of(c, hGraph)->roots(), numRootNodes, rootNodes, raw_node);
  });
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* edgeData, size_t* numEdges) noexcept {
  return run_locked([&](call& c) {
    const auto target = graph_of(c, hGraph);
    require_outputs(numEdges);
    require((from == nullptr) == (to == nullptr), CUDA_ERROR_INVALID_VALUE,
            "both lists must be null, or neither");
    auto capacity = *numEdges;
    write_ends(target->edges(), &graph_edge::from, from, nullptr, numEdges);
    write_ends(target->edges(), &graph_edge::to, to, edgeData, &capacity);
  });
}

CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edgeData,
                                   size_t numDependencies) noexcept {
  return change_edges(hGraph, from, to, edgeData, numDependencies, true);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from,
                                      const CUgraphNode* to, const CUgraphEdgeData* edgeData,
                                      size_t numDependencies) noexcept {
  return change_edges(hGraph, from, to, edgeData, numDependencies, false);
}

CUresult cuGraphDestroyNode(CUgraphNode hNode) noexcept {
  return run_locked([&](call& c) {
    const auto node = node_of(c, hNode);
    require(!node->owner().allocates(), CUDA_ERROR_NOT_SUPPORTED,
            "a graph that allocates or frees memory cannot lose nodes or edges");
    node->owner().remove(c.d, *node);
  });
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies,
                                       CUgraphEdgeData* edgeData,
                                       size_t* numDependencies) noexcept {
  return run_locked([&](call& c) {
    const auto node = node_of(c, hNode);
    write_ends(node->owner().edges_to(*node), &graph_edge::from, dependencies, edgeData,
               numDependencies);
  });
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                         CUgraphEdgeData* edgeData,
                                         size_t* numDependentNodes) noexcept {
  return run_locked([&](call& c) {
    const auto node = node_of(c, hNode);
    write_ends(node->owner().edges_from(*node), &graph_edge::to, dependentNodes, edgeData,
               numDependentNodes);
  });
}

CUresult cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph* phGraph) noexcept {
  return run_locked([&](call& c) {
    require_outputs(phGraph);
    *phGraph = node_of(c, hNode)->owner().handle_as<CUgraph>();
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode,
                                CUgraph hClonedGraph) noexcept {
  return run_locked([&](call& c) {
    require_outputs(phNode);
    const auto original = node_of(c, hOriginalNode);
    const auto source = graph_of(c, hClonedGraph);
    const auto match = std::ranges::find(source->nodes(), original->id(), &graph_node::original);
    require(match != source->nodes().end(), CUDA_ERROR_INVALID_VALUE,
            "the graph has no clone of this node");
    *phNode = raw_node(match->get());
  });
}

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(path);
    const auto text = dot_of(*graph_of(c, hGraph), flags);
    std::ofstream file{path, std::ios::trunc};
    file << text;
    file.close();
    if (!file) {
      refuse(CUDA_ERROR_OPERATING_SYSTEM, std::string{"the file cannot be written: "} + path);
    }
  });
}

}  // namespace halfwarp::emulator::api
