// SPDX-License-Identifier: Apache-2.0
// The kinds of graph nodes. A file in nodes/ defines each kind and its driver functions.
#pragma once

#include <algorithm>
#include <memory>

#include "emulator/api/graph/graph_call.hpp"

namespace halfwarp::emulator::api {

// The parameters of a node to create or to change.
struct node_request {
  call& c;
  graph& owner;
  CUgraphNodeParams& params;           // creation writes the output members
  const node_work* current = nullptr;  // the work to replace; null: of a new node
  context_source context_from = context_source::parameters;
};

struct node_kind {
  node_traits traits;
  // Returns the work of a node; refuses parameters that are invalid for the kind or for the graph.
  std::shared_ptr<node_work> (*create)(const node_request& request);
  // Returns the work of a captured operation that describes parameters of this kind. Null: no
  // operation does.
  std::shared_ptr<node_work> (*capture)(std::shared_ptr<operation> captured) = nullptr;
  // Changes a node of an executable graph. Null: replaces the work of the node.
  void (*change)(call& c, const exec_node& target, const CUgraphNodeParams& params) = nullptr;
  bool has_fixed_parameters = false;
};

extern const node_kind kernel_kind, memcpy_kind, memset_kind, host_kind, child_graph_kind,
    empty_kind, event_wait_kind, event_record_kind, allocation_kind, free_kind, batch_memory_kind,
    conditional_kind;

inline constexpr const node_kind* node_kinds[] = {
    &kernel_kind,      &memcpy_kind, &memset_kind,       &host_kind,
    &child_graph_kind, &empty_kind,  &event_wait_kind,   &event_record_kind,
    &allocation_kind,  &free_kind,   &batch_memory_kind, &conditional_kind,
};

// Kinds that the emulator refuses.
inline constexpr CUgraphNodeType refused_types[] = {
    CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL,
    CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT,
    CU_GRAPH_NODE_TYPE_MEMCPY_BATCH,
    CU_GRAPH_NODE_TYPE_FABRIC_CPY_BATCH,
};

// Returns the context of a node, for the handle of its parameters; null: the current context.
std::shared_ptr<context> context_for(const node_request& request, CUcontext raw);

// Returns a kind; refuses types that are unknown or that the emulator does not support.
const node_kind& kind_of(CUgraphNodeType type);

// Returns the work of a captured operation.
template <class Work>
std::shared_ptr<node_work> capture_as(std::shared_ptr<operation> captured) {
  return std::make_shared<Work>(std::move(captured), nullptr);
}

}  // namespace halfwarp::emulator::api
