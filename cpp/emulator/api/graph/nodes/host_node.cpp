// SPDX-License-Identifier: Apache-2.0
// Nodes that call a host function.
#include "emulator/api/graph/node_kinds.hpp"
#include "emulator/graph/dot/dot_rows.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator::api {
namespace {

class host_work final : public operation_work {
 public:
  host_work(std::shared_ptr<operation> call, std::shared_ptr<emulator::context> owner)
      : operation_work{host_kind.traits, std::move(call), std::move(owner)} {}

  void write_rows(dot_rows& rows) const override {
    if (!rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS)) return;
    const auto p = parameters().host;
    rows.add_address("fn", reinterpret_cast<void*>(p.fn));
    rows.add_address("userData", p.userData);
  }
};

std::shared_ptr<node_work> create(const node_request& request) {
  const auto& p = request.params.host;
  require(p.fn != nullptr, CUDA_ERROR_INVALID_VALUE, "the host function is null");
  return std::make_shared<host_work>(std::make_shared<host_call>(p.fn, p.userData), nullptr);
}

CUgraphNodeParams* convert(const CUDA_HOST_NODE_PARAMS* p,
                           CUgraphNodeParams&& params = params_of(CU_GRAPH_NODE_TYPE_HOST)) {
  if (!p) return nullptr;
  params.host.fn = p->fn;
  params.host.userData = p->userData;
  return &params;
}

}  // namespace

constexpr node_kind host_kind{
    .traits = {.type = CU_GRAPH_NODE_TYPE_HOST, .name = "HOST"},
    .create = create,
    .capture = capture_as<host_work>,
};

CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                            const CUgraphNode* dependencies, size_t numDependencies,
                            const CUDA_HOST_NODE_PARAMS* nodeParams) noexcept {
  return add_node({phGraphNode, hGraph, dependencies, numDependencies}, convert(nodeParams));
}

CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, [](const CUgraphNodeParams& params) {
    return CUDA_HOST_NODE_PARAMS{params.host.fn, params.host.userData};
  });
}

CUresult cuGraphHostNodeSetParams(CUgraphNode hNode,
                                  const CUDA_HOST_NODE_PARAMS* nodeParams) noexcept {
  return set_node(hNode, convert(nodeParams));
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS* nodeParams) noexcept {
  return set_exec_node(hGraphExec, hNode, convert(nodeParams));
}

}  // namespace halfwarp::emulator::api
