// SPDX-License-Identifier: Apache-2.0
// Changing what the nodes of an executable graph do, within the limits of the driver.
#pragma once

#include <cuda.h>

#include "emulator/graph/graph_exec.hpp"

namespace halfwarp::emulator {

struct update_outcome {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  const graph_node* node = nullptr;  // of the graph with the new parameters
  const graph_node* from = nullptr;  // the other end of an edge that does not match
};

// Whether a node may go from one work to the other.
CUgraphExecUpdateResult check_change(const node_work& now, const node_work& then,
                                     unsigned long long flags);

// Takes over the parameters, and what they keep alive, of a graph of the same shape; changes
// nothing when there is a difference that an executable does not take.
update_outcome update(graph_exec& target, const graph& from);
// The same for the child graph of one of its nodes.
update_outcome update_child(graph_exec& target, graph_node& of, const graph& from);

}  // namespace halfwarp::emulator
