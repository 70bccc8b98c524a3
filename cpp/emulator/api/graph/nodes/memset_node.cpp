// SPDX-License-Identifier: Apache-2.0
// Nodes that fill memory.
#include "emulator/api/graph/node_kinds.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/graph/dot/dot_rows.hpp"

namespace halfwarp::emulator::api {
namespace {

int device_of(CUdeviceptr address) { return the_driver().memory.device_of(address); }

class memset_work final : public operation_work {
 public:
  memset_work(std::shared_ptr<operation> fill, std::shared_ptr<emulator::context> owner)
      : operation_work{memset_kind.traits, std::move(fill), std::move(owner)} {}

  // A fill of several rows can only change its address and value.
  CUgraphExecUpdateResult compare(const node_work& other, unsigned long long) const override {
    const auto current = parameters().memset, updated = other.parameters().memset;
    const bool is_same_shape = current.width == updated.width && current.pitch == updated.pitch &&
                               current.elementSize == updated.elementSize;
    const bool is_same = device_of(current.dst) == device_of(updated.dst) &&
                         current.height == updated.height && (current.height <= 1 || is_same_shape);
    return is_same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  }

  void write_rows(dot_rows& rows) const override {
    if (!rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS)) return;
    const auto p = parameters().memset;
    rows.add_address("dptr", p.dst);
    rows.add("pitch", {p.pitch});
    rows.add("value", {p.value});
    rows.add("elementSize", {p.elementSize});
    rows.add("width,height", {p.width, p.height});
  }

 private:
  void describe(CUgraphNodeParams& params) const override {
    operation_work::describe(params);
    params.memset.ctx = context_handle();
  }
};

CUDA_MEMSET_NODE_PARAMS older(const CUDA_MEMSET_NODE_PARAMS_v2& p) {
  return {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
}

std::shared_ptr<node_work> create(const node_request& request) {
  const auto& p = request.params.memset;
  auto owner = context_for(request, p.ctx);
  auto fill = make_fill(request.c, older(p), owner->device().ordinal());
  return std::make_shared<memset_work>(std::move(fill), std::move(owner));
}

CUgraphNodeParams* convert(const CUDA_MEMSET_NODE_PARAMS* p, CUcontext ctx,
                           CUgraphNodeParams&& params = params_of(CU_GRAPH_NODE_TYPE_MEMSET)) {
  if (!p) return nullptr;
  params.memset = {p->dst, p->pitch, p->value, p->elementSize, p->width, p->height, ctx};
  return &params;
}

}  // namespace

constexpr node_kind memset_kind{
    .traits = {.type = CU_GRAPH_NODE_TYPE_MEMSET,
               .name = "MEMSET",
               .can_be_disabled = true,
               .runs_in_device_launches = true,
               .runs_in_bodies = true},
    .create = create,
    .capture = capture_as<memset_work>,
};

CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) noexcept {
  return add_node({phGraphNode, hGraph, dependencies, numDependencies}, convert(memsetParams, ctx));
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode,
                                    CUDA_MEMSET_NODE_PARAMS* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEMSET, nodeParams,
              [](const CUgraphNodeParams& params) { return older(params.memset); });
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode,
                                    const CUDA_MEMSET_NODE_PARAMS* nodeParams) noexcept {
  return set_node(hNode, convert(nodeParams, nullptr), context_source::node);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS* memsetParams,
                                        CUcontext ctx) noexcept {
  return set_exec_node(hGraphExec, hNode, convert(memsetParams, ctx));
}

}  // namespace halfwarp::emulator::api
