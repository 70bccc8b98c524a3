// SPDX-License-Identifier: Apache-2.0
// Graphs: making, asking, cloning, connecting, destroying.
#include "emulator/graph/graph.hpp"

#include <cstring>
#include <fstream>

#include "emulator/api/graph/graph_call.hpp"
#include "emulator/graph/capture.hpp"

namespace halfwarp::emulator::api {
namespace {

CUgraphNode raw_node(const graph_node* each) { return each->handle_as<CUgraphNode>(); }

// One after another: those before one that is refused stay changed.
CUresult change_edges(CUgraph raw, const CUgraphNode* from, const CUgraphNode* to,
                      const CUgraphEdgeData* data, std::size_t count, bool adds) {
  return answer([&](call& c) {
    const auto in = graph_of(c, raw);
    const auto given = data_of(data, count);
    const auto first = nodes_of(c, from, count), second = nodes_of(c, to, count);
    require(adds || count == 0 || !in->allocates(), CUDA_ERROR_NOT_SUPPORTED,
            "a graph that allocates or frees memory keeps its nodes and edges");
    for (std::size_t i = 0; i < given.size(); ++i) {
      check_edge(*first[i], second[i]->work.type, given[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (adds) {
        in->connect(*first[i], *second[i], given.empty() ? CUgraphEdgeData{} : given[i]);
      } else {
        in->disconnect(*first[i], *second[i], given.empty() ? nullptr : &given[i]);
      }
    }
  });
}

// The other ends of edges, with what is known about each.
void hand_over_ends(const std::vector<graph_edge>& edges, graph_node* graph_edge::*end,
                    CUgraphNode* list, CUgraphEdgeData* data, std::size_t* count) {
  require_outputs(count);
  auto room = *count;
  hand_over(edges, count, list, [&](const graph_edge& e) { return raw_node(e.*end); });
  if (list && data) hand_over(edges, &room, data, [](const graph_edge& e) { return e.data; });
}

}  // namespace

std::vector<graph_node*> nodes_of(const call& c, const CUgraphNode* list, std::size_t count) {
  require(list != nullptr || count == 0, CUDA_ERROR_INVALID_VALUE, "the list of nodes is null");
  std::vector<graph_node*> found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(node_of(c, list[i]).get());
  return found;
}

std::span<const CUgraphEdgeData> data_of(const CUgraphEdgeData* list, std::size_t count) {
  constexpr unsigned char zeros[sizeof list->reserved] = {};
  for (std::size_t i = 0; list && i < count; ++i) {
    require(list[i].to_port == 0 && std::memcmp(list[i].reserved, zeros, sizeof zeros) == 0,
            CUDA_ERROR_INVALID_VALUE,
            "no node has a port for dependencies, and reserved bytes are zero");
  }
  return list ? std::span{list, count} : std::span<const CUgraphEdgeData>{};
}

void check_edge(const graph_node& from, CUgraphNodeType to, const CUgraphEdgeData& data) {
  if (data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT) {
    require(data.from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT, CUDA_ERROR_INVALID_VALUE,
            "an ordinary dependency leaves a node by port 0");
    return;
  }
  const bool is_between_kernels =
      from.work.type == CU_GRAPH_NODE_TYPE_KERNEL && to == CU_GRAPH_NODE_TYPE_KERNEL;
  const bool is_port = data.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
                       data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
  require(data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && is_between_kernels && is_port,
          CUDA_ERROR_INVALID_VALUE,
          "a programmatic dependency is between kernels, from the port for it");
}

CUresult cuGraphCreate(CUgraph* phGraph, unsigned int flags) noexcept {
  return answer([&](call& c) {
    require_outputs(phGraph);
    require(flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags must be 0");
    *phGraph = c.d.objects.make<graph>()->handle_as<CUgraph>();
  });
}

CUresult cuGraphDestroy(CUgraph hGraph) noexcept {
  return answer([&](call& c) {
    const auto gone = graph_of(c, hGraph);
    require(!gone->is_of_node(), CUDA_ERROR_INVALID_VALUE, "the graph belongs to a node");
    for (const auto& each : c.d.captures) {
      if (each->into == gone) each->is_valid = false;
    }
    gone->clear(c.d);
    c.d.objects.remove(*gone);
  });
}

CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) noexcept {
  return answer([&](call& c) {
    require_outputs(phGraphClone);
    const auto original = graph_of(c, originalGraph);
    require(!original->allocates() && !original->has_nodes_of(CU_GRAPH_NODE_TYPE_CONDITIONAL),
            CUDA_ERROR_NOT_SUPPORTED,
            "a graph that allocates or frees memory, or has conditional nodes, is not cloned");
    *phGraphClone = clone(c.d, *original)->handle_as<CUgraph>();
  });
}

CUresult cuGraphGetId(CUgraph hGraph, unsigned int* graphId) noexcept {
  return answer([&](call& c) {
    require_outputs(graphId);
    *graphId = static_cast<unsigned>(graph_of(c, hGraph)->id());
  });
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) noexcept {
  return answer([&](call& c) {
    hand_over(graph_of(c, hGraph)->nodes(), numNodes, nodes,
              [](const auto& each) { return raw_node(each.get()); });
  });
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes,
                             size_t* numRootNodes) noexcept {
  return answer(
      [&](call& c) { hand_over(graph_of(c, hGraph)->roots(), numRootNodes, rootNodes, raw_node); });
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* edgeData, size_t* numEdges) noexcept {
  return answer([&](call& c) {
    const auto in = graph_of(c, hGraph);
    require_outputs(numEdges);
    require((from == nullptr) == (to == nullptr), CUDA_ERROR_INVALID_VALUE,
            "the lists come together or not at all");
    auto room = *numEdges;
    hand_over_ends(in->edges(), &graph_edge::from, from, nullptr, numEdges);
    hand_over_ends(in->edges(), &graph_edge::to, to, edgeData, &room);
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
  return answer([&](call& c) {
    const auto gone = node_of(c, hNode);
    require(!gone->in().allocates(), CUDA_ERROR_NOT_SUPPORTED,
            "a graph that allocates or frees memory keeps its nodes and edges");
    gone->in().remove(c.d, *gone);
  });
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies,
                                       CUgraphEdgeData* edgeData,
                                       size_t* numDependencies) noexcept {
  return answer([&](call& c) {
    const auto asked = node_of(c, hNode);
    hand_over_ends(asked->in().edges_to(*asked), &graph_edge::from, dependencies, edgeData,
                   numDependencies);
  });
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                         CUgraphEdgeData* edgeData,
                                         size_t* numDependentNodes) noexcept {
  return answer([&](call& c) {
    const auto asked = node_of(c, hNode);
    hand_over_ends(asked->in().edges_from(*asked), &graph_edge::to, dependentNodes, edgeData,
                   numDependentNodes);
  });
}

CUresult cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph* phGraph) noexcept {
  return answer([&](call& c) {
    require_outputs(phGraph);
    *phGraph = node_of(c, hNode)->in().handle_as<CUgraph>();
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode,
                                CUgraph hClonedGraph) noexcept {
  return answer([&](call& c) {
    require_outputs(phNode);
    const auto original = node_of(c, hOriginalNode);
    const auto in = graph_of(c, hClonedGraph);
    const auto found = std::ranges::find(in->nodes(), original->id(), &graph_node::original);
    require(found != in->nodes().end(), CUDA_ERROR_INVALID_VALUE,
            "the graph has no clone of this node");
    *phNode = raw_node(found->get());
  });
}

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned int flags) noexcept {
  return answer([&](call& c) {
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
