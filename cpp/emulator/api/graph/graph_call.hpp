// SPDX-License-Identifier: Apache-2.0
// Shared by the graph functions: nodes of handles, node parameters, output lists.
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

// Returns the nodes of a list of handles.
std::vector<graph_node*> nodes_of(const call& c, const CUgraphNode* list, std::size_t count);
// Returns edge data after checks that need no nodes; check_edge does the other checks.
std::span<const CUgraphEdgeData> data_of(const CUgraphEdgeData* list, std::size_t count);
void check_edge(const graph_node& from, CUgraphNodeType to, const CUgraphEdgeData& data);

// Returns the work of a new node of `owner`, and writes the output members of the parameters.
// Refuses parameters that are invalid for the node type or for the graph.
node_work work_of(call& c, graph& owner, CUgraphNodeParams& params, bool checks_context = false);
// Return the work of a node of one type.
node_work kernel_work(call& c, const CUDA_KERNEL_NODE_PARAMS_v3& p, launch_attributes attributes,
                      bool checks_context = false);
node_work copy_work(call& c, const CUDA_MEMCPY3D& p, CUcontext raw);
node_work fill_work(call& c, const CUDA_MEMSET_NODE_PARAMS& p, CUcontext raw);
node_work host_work(CUhostFn function, void* data);
node_work event_work(const call& c, CUgraphNodeType type, CUevent raw);
node_work child_work(call& c, const CUDA_CHILD_GRAPH_NODE_PARAMS& p, const graph& owner);
node_work allocation_work(call& c, graph& owner, CUDA_MEM_ALLOC_NODE_PARAMS_v2& p);
node_work free_work(call& c, graph& owner, CUdeviceptr address);
node_work conditional_work(call& c, graph& owner, CUDA_CONDITIONAL_NODE_PARAMS& p);

// Returns the context of a handle, or the current context for null.
std::shared_ptr<context> context_or_current(const call& c, CUcontext raw);

// Returns the parameters of a node.
CUgraphNodeParams parameters_of(const graph_node& node);

// Convert between versions of parameter structs that have the same members.
CUDA_KERNEL_NODE_PARAMS_v3 newer(const CUDA_KERNEL_NODE_PARAMS& p);
CUDA_KERNEL_NODE_PARAMS older(const CUDA_KERNEL_NODE_PARAMS_v3& p);
CUDA_MEMSET_NODE_PARAMS older(const CUDA_MEMSET_NODE_PARAMS_v2& p);

// Writes the number of items if `list` is null. Else fills the list, and pads it with null.
template <class Raw, class Item>
void write_list(const std::vector<Item>& items, std::size_t* count, Raw* list, const auto& raw_of) {
  require_outputs(count);
  if (list) {
    const auto capacity = *count;
    for (std::size_t i = 0; i < capacity; ++i)
      list[i] = i < items.size() ? raw_of(items[i]) : Raw{};
    *count = std::min(capacity, items.size());
  } else {
    *count = items.size();
  }
}

}  // namespace halfwarp::emulator::api
