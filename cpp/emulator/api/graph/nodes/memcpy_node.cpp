// SPDX-License-Identifier: Apache-2.0
// Nodes that copy memory.
#include "emulator/api/graph/node_kinds.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/graph/dot/dot_rows.hpp"

namespace halfwarp::emulator::api {
namespace {

int device_of(CUdeviceptr address) { return the_driver().memory.device_of(address); }

std::string side_text(CUmemorytype type, const void* host, CUdeviceptr device) {
  if (type != CU_MEMORYTYPE_HOST) return "DEVICE " + address_text(device);
  return "HOST " + address_text(reinterpret_cast<std::uint64_t>(host));
}

class memcpy_work final : public operation_work {
 public:
  memcpy_work(std::shared_ptr<operation> copy, std::shared_ptr<emulator::context> owner)
      : operation_work{memcpy_kind.traits, std::move(copy), std::move(owner)} {}

  CUgraphExecUpdateResult compare(const node_work& other, unsigned long long) const override {
    const auto current = parameters().memcpy.copyParams,
               updated = other.parameters().memcpy.copyParams;
    const bool is_same = current.srcMemoryType == updated.srcMemoryType &&
                         current.dstMemoryType == updated.dstMemoryType &&
                         device_of(current.srcDevice) == device_of(updated.srcDevice) &&
                         device_of(current.dstDevice) == device_of(updated.dstDevice);
    return is_same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  }

  void require_single_change(const node_work& updated) const override {
    for (const auto* each : {static_cast<const node_work*>(this), &updated}) {
      const auto p = each->parameters().memcpy.copyParams;
      require(p.Height <= 1 && p.Depth <= 1, CUDA_ERROR_INVALID_VALUE,
              "an executable graph can change one-row copies only");
    }
  }

  void write_rows(dot_rows& rows) const override {
    if (!rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS)) return;
    const auto p = parameters().memcpy.copyParams;
    rows.add("src", side_text(p.srcMemoryType, p.srcHost, p.srcDevice));
    rows.add("dst", side_text(p.dstMemoryType, p.dstHost, p.dstDevice));
    rows.add("WidthInBytes,Height,Depth", {p.WidthInBytes, p.Height, p.Depth});
    rows.add("srcPitch,srcHeight", {p.srcPitch, p.srcHeight});
    rows.add("dstPitch,dstHeight", {p.dstPitch, p.dstHeight});
  }

 private:
  void describe(CUgraphNodeParams& params) const override {
    operation_work::describe(params);
    params.memcpy.copyCtx = context_handle();
  }
};

std::shared_ptr<node_work> create(const node_request& request) {
  const auto& p = request.params.memcpy;
  auto owner = context_for(request, p.copyCtx);
  auto copy = make_copy(request.c, p.copyParams, owner->device().ordinal());
  return std::make_shared<memcpy_work>(std::move(copy), std::move(owner));
}

CUgraphNodeParams* convert(const CUDA_MEMCPY3D* p, CUcontext ctx,
                           CUgraphNodeParams&& params = params_of(CU_GRAPH_NODE_TYPE_MEMCPY)) {
  if (!p) return nullptr;
  params.memcpy.copyParams = *p;
  params.memcpy.copyCtx = ctx;
  return &params;
}

}  // namespace

constexpr node_kind memcpy_kind{
    .traits = {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
               .name = "MEMCPY",
               .can_be_disabled = true,
               .runs_in_device_launches = true,
               .runs_in_bodies = true},
    .create = create,
    .capture = capture_as<memcpy_work>,
};

CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMCPY3D* copyParams, CUcontext ctx) noexcept {
  return add_node({phGraphNode, hGraph, dependencies, numDependencies}, convert(copyParams, ctx));
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, nodeParams,
              [](const CUgraphNodeParams& params) { return params.memcpy.copyParams; });
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) noexcept {
  return set_node(hNode, convert(nodeParams, nullptr), context_source::node);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMCPY3D* copyParams, CUcontext ctx) noexcept {
  return set_exec_node(hGraphExec, hNode, convert(copyParams, ctx));
}

}  // namespace halfwarp::emulator::api
