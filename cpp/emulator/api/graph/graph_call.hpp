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
#include "emulator/stream/launch_attributes.hpp"

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

struct new_node {
  CUgraphNode* out;
  CUgraph graph;
  const CUgraphNode* dependencies;
  std::size_t count;
  const CUgraphEdgeData* data = nullptr;
};

// A node of an executable graph.
struct exec_node {
  std::shared_ptr<graph_exec> exec;
  graph_node* node;
};

inline CUgraphNodeParams params_of(CUgraphNodeType type) {
  CUgraphNodeParams params{};
  params.type = type;
  return params;
}

// The source of a node's context. A function must have been loaded in a context of checked
// parameters. A change can retain the context of the node.
enum class context_source : std::uint8_t { parameters, checked_parameters, node };

// Add a node, change its parameters, or change them in an executable graph. Null parameters are
// refused. Typed functions convert their parameters to a temporary of the calling expression.
CUresult add_node(const new_node& request, CUgraphNodeParams* params,
                  context_source context_from = context_source::parameters);
CUresult set_node(CUgraphNode raw, CUgraphNodeParams* params,
                  context_source context_from = context_source::parameters);
CUresult set_exec_node(CUgraphExec exec, CUgraphNode raw, CUgraphNodeParams* params);
// Writes the parameters of a node; refuses a node of another type, and a null output.
CUresult read_node(CUgraphNode raw, CUgraphNodeType type, const void* out,
                   CUgraphNodeParams& params);
// Replaces the work of a node. Executable graphs retain the previous work.
void replace_work(call& c, graph_node& node, std::shared_ptr<const node_work> work);

// Writes a member of the parameters of a node.
template <class Output>
CUresult read(CUgraphNode raw, CUgraphNodeType type, Output* out, const auto& member_of) {
  CUgraphNodeParams params;
  const auto result = read_node(raw, type, out, params);
  if (result == CUDA_SUCCESS) *out = member_of(params);
  return result;
}

// Returns the work of a new node of a captured graph.
std::shared_ptr<node_work> create_work(call& c, graph& owner, CUgraphNodeParams& params);
std::shared_ptr<node_work> event_work(CUgraphNodeType type, std::shared_ptr<event> target);
std::shared_ptr<node_work> kernel_work(std::shared_ptr<operation> launch,
                                       launch_attributes attributes, CUkernel kernel);

// Returns the context of a handle, or the current context for null.
std::shared_ptr<context> context_or_current(const call& c, CUcontext raw);

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
