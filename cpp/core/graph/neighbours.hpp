// SPDX-License-Identifier: Apache-2.0
// The nodes before and behind a node, and the data of the edges to them.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <vector>

#include "core/graph/graph_lock.hpp"

namespace halfwarp::core {

struct neighbours {
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphEdgeData> edges;  // one for each; without room for it drivers refuse any data
};

[[nodiscard]] inline neighbours neighbours_of(graph_lock& lock, CUgraphNode node, bool behind) {
  const std::lock_guard guard{lock};
  const auto function = behind ? driver::table->cuGraphNodeGetDependentNodes
                               : driver::table->cuGraphNodeGetDependencies;
  require_usable(lock, reinterpret_cast<const void*>(function));
  neighbours found;
  std::size_t count = 0;
  driver::call(function, node, nullptr, nullptr, &count);
  found.nodes.resize(count);
  found.edges.resize(count);
  if (count != 0) driver::call(function, node, found.nodes.data(), found.edges.data(), &count);
  if (count < found.nodes.size()) found.nodes.resize(count);
  return found;
}

}  // namespace halfwarp::core
