// SPDX-License-Identifier: Apache-2.0
// What the bodies on graphs share: nodes behind handles, parameters, lists in the two-call form.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "emulator/api/call.hpp"
#include "emulator/graph/graph.hpp"
#include "emulator/graph/graph_exec.hpp"

namespace halfwarp::emulator::api {

inline std::shared_ptr<graph> graph_of(const call& c, CUgraph raw) {
  return c.find<graph>(raw, CUDA_ERROR_INVALID_VALUE);
}

inline std::shared_ptr<graph_node> node_of(const call& c, CUgraphNode raw) {
  return c.find<graph_node>(raw, CUDA_ERROR_INVALID_VALUE);
}

inline std::shared_ptr<graph_exec> exec_of(const call& c, CUgraphExec raw) {
  return c.find<graph_exec>(raw, CUDA_ERROR_INVALID_VALUE);
}

// A list of nodes that the program gave.
std::vector<graph_node*> nodes_of(const call& c, const CUgraphNode* list, std::size_t count);
// Refuses what no edge can be; the rest is between kernels, which `check_edges` sees to.
std::span<const CUgraphEdgeData> data_of(const CUgraphEdgeData* list, std::size_t count);
void check_edge(const graph_node& from, CUgraphNodeType to, const CUgraphEdgeData& data);

// The work of a node with these parameters in a graph; fills in what the driver tells of it.
// Refuses what a node of this kind, or a node of this graph, cannot do.
node_work work_of(call& c, graph& in, CUgraphNodeParams& given, bool checks_context = false);
// The same of each kind.
node_work kernel_work(call& c, const CUDA_KERNEL_NODE_PARAMS_v3& p, launch_attributes attributes,
                      bool checks_context = false);
node_work copy_work(call& c, const CUDA_MEMCPY3D& p, CUcontext raw);
node_work fill_work(call& c, const CUDA_MEMSET_NODE_PARAMS& p, CUcontext raw);
node_work host_work(CUhostFn function, void* data);
node_work event_work(const call& c, CUgraphNodeType type, CUevent raw);
node_work child_work(call& c, const CUDA_CHILD_GRAPH_NODE_PARAMS& p, const graph& in);
node_work allocation_work(call& c, graph& in, CUDA_MEM_ALLOC_NODE_PARAMS_v2& p);
node_work free_work(call& c, graph& in, CUdeviceptr at);
node_work conditional_work(call& c, graph& in, CUDA_CONDITIONAL_NODE_PARAMS& p);

// The context of a node: the one named, or the current one.
std::shared_ptr<context> place_of(const call& c, CUcontext raw);

// The parameters of a node, as they were given or captured.
CUgraphNodeParams parameters_of(const graph_node& of);

// The two forms of kernel parameters have the same members.
CUDA_KERNEL_NODE_PARAMS_v3 newer(const CUDA_KERNEL_NODE_PARAMS& p);
CUDA_KERNEL_NODE_PARAMS older(const CUDA_KERNEL_NODE_PARAMS_v3& p);
CUDA_MEMSET_NODE_PARAMS older(const CUDA_MEMSET_NODE_PARAMS_v2& p);

// Asked without a list, tells the count; with one, fills it with what fits, and the rest with null.
template <class Raw, class Item>
void hand_over(const std::vector<Item>& items, std::size_t* count, Raw* list, const auto& raw_of) {
  require_outputs(count);
  if (list) {
    const auto room = *count;
    for (std::size_t i = 0; i < room; ++i) list[i] = i < items.size() ? raw_of(items[i]) : Raw{};
    *count = std::min(room, items.size());
  } else {
    *count = items.size();
  }
}

}  // namespace halfwarp::emulator::api
