// SPDX-License-Identifier: Apache-2.0
// Empty nodes, which only join their dependencies.
#include "emulator/api/graph/node_kinds.hpp"

namespace halfwarp::emulator::api {
namespace {

std::shared_ptr<node_work> create(const node_request&) {
  return std::make_shared<node_work>(empty_kind.traits);
}

// The operation has no parameters: a wait for another process.
std::shared_ptr<node_work> capture_operation(std::shared_ptr<operation> captured) {
  return std::make_shared<operation_work>(empty_kind.traits, std::move(captured), nullptr);
}

}  // namespace

constexpr node_kind empty_kind{
    .traits = {.type = CU_GRAPH_NODE_TYPE_EMPTY, .name = "EMPTY", .runs_in_bodies = true},
    .create = create,
    .capture = capture_operation,
};

CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                             const CUgraphNode* dependencies, size_t numDependencies) noexcept {
  auto params = params_of(CU_GRAPH_NODE_TYPE_EMPTY);
  return add_node({phGraphNode, hGraph, dependencies, numDependencies}, &params);
}

}  // namespace halfwarp::emulator::api
