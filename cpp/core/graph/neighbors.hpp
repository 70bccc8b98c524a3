// SPDX-License-Identifier: Apache-2.0
// The dependencies or dependents of a node, with the data of the edges to them.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <vector>

#include "core/graph/graph_lock.hpp"

namespace halfwarp::core {

struct neighbors {
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphEdgeData> edges;  // one per node; without it drivers reject edges with data
};

[[nodiscard]] inline neighbors neighbors_of(graph_lock& lock, CUgraphNode node, bool dependents) {
  const std::lock_guard guard{lock};
  const auto function = dependents ? driver::table->cuGraphNodeGetDependentNodes
                                   : driver::table->cuGraphNodeGetDependencies;
  require_usable(lock, reinterpret_cast<const void*>(function));
  neighbors result;
  std::size_t count = 0;
  driver::call(function, node, nullptr, nullptr, &count);
  result.nodes.resize(count);
  result.edges.resize(count);
  if (count != 0) driver::call(function, node, result.nodes.data(), result.edges.data(), &count);
  if (count < result.nodes.size()) result.nodes.resize(count);
  return result;
}

}  // namespace halfwarp::core
