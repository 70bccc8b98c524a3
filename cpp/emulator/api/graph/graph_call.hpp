// SPDX-License-Identifier: Apache-2.0
// What the bodies on graphs share: nodes behind handles, lists in the two-call form.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "emulator/api/call.hpp"
#include "emulator/graph/graph.hpp"

namespace halfwarp::emulator::api {

inline std::shared_ptr<graph> graph_of(const call& c, CUgraph raw) {
  return c.find<graph>(raw, CUDA_ERROR_INVALID_VALUE);
}

inline std::shared_ptr<graph_node> node_of(const call& c, CUgraphNode raw) {
  return c.find<graph_node>(raw, CUDA_ERROR_INVALID_VALUE);
}

// A list of nodes that the program gave.
std::vector<graph_node*> nodes_of(const call& c, const CUgraphNode* list, std::size_t count);
std::span<const CUgraphEdgeData> data_of(const CUgraphEdgeData* list, std::size_t count);

// The work of a node with these parameters; refuses what a node of this kind cannot do.
node_work work_of(call& c, const CUgraphNodeParams& given);
// The parameters of a node, as they were given or captured.
CUgraphNodeParams parameters_of(const graph_node& of);

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
