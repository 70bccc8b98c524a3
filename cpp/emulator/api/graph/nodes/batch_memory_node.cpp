// SPDX-License-Identifier: Apache-2.0
// Nodes that write values, wait for values, or reduce values in memory.
#include <algorithm>
#include <span>

#include "emulator/api/graph/node_kinds.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/graph/dot/dot_rows.hpp"
#include "emulator/work/stream_values.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr const char* names[] = {"",
                                 "WAIT_VALUE_32",
                                 "WRITE_VALUE_32",
                                 "FLUSH_REMOTE_WRITES",
                                 "WAIT_VALUE_64",
                                 "WRITE_VALUE_64",
                                 "BARRIER",
                                 "",
                                 "ATOMIC_REDUCTION"};  // by CUstreamBatchMemOpType

std::span<const CUstreamBatchMemOpParams> operations_of(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& p) {
  return {p.paramArray, p.count};
}

// Returns whether an executable graph may adopt an operation: only waits and writes can change.
bool is_adoptable(const CUstreamBatchMemOpParams& current,
                  const CUstreamBatchMemOpParams& updated) {
  if (current.operation != updated.operation) return false;
  if (current.operation == CU_STREAM_MEM_OP_BARRIER) {
    return current.memoryBarrier.flags == updated.memoryBarrier.flags;
  }
  if (current.operation != CU_STREAM_MEM_OP_ATOMIC_REDUCTION) return true;
  const auto &a = current.atomicReduction, &b = updated.atomicReduction;
  return a.reductionOp == b.reductionOp && a.dataType == b.dataType && a.address == b.address &&
         a.value == b.value;
}

class batch_memory_work final : public operation_work {
 public:
  batch_memory_work(std::shared_ptr<operation> values, std::shared_ptr<emulator::context> owner)
      : operation_work{batch_memory_kind.traits, std::move(values), std::move(owner)} {}

  CUgraphExecUpdateResult compare(const node_work& other, unsigned long long) const override {
    const auto current = parameters().memOp, updated = other.parameters().memOp;
    const bool is_same =
        context == other.context &&
        std::ranges::equal(operations_of(current), operations_of(updated), is_adoptable);
    return is_same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  }

  void write_rows(dot_rows& rows) const override {
    if (!rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS)) return;
    const auto p = parameters().memOp;
    rows.add("count", {p.count});
    for (const auto& each : operations_of(p)) {
      rows.add_address(names[each.operation], bytes_of(each) ? address_of(each) : 0);
    }
  }

 private:
  void describe(CUgraphNodeParams& params) const override {
    operation_work::describe(params);
    params.memOp.ctx = context_handle();
  }
};

std::shared_ptr<node_work> create(const node_request& request) {
  const auto& p = request.params.memOp;
  auto owner = context_for(request, p.ctx);
  auto values =
      make_values(request.c, {p.ctx, p.count, p.paramArray, p.flags}, owner->device().ordinal());
  return std::make_shared<batch_memory_work>(std::move(values), std::move(owner));
}

CUgraphNodeParams* convert(
    const CUDA_BATCH_MEM_OP_NODE_PARAMS* p,
    CUgraphNodeParams&& params = params_of(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)) {
  if (!p) return nullptr;
  params.memOp = {p->ctx, p->count, p->paramArray, p->flags};
  return &params;
}

}  // namespace

constexpr node_kind batch_memory_kind{
    .traits = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, .name = "BATCH_MEM_OP"},
    .create = create,
    .capture = capture_as<batch_memory_work>,
};

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                  const CUgraphNode* dependencies, size_t numDependencies,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) noexcept {
  return add_node({phGraphNode, hGraph, dependencies, numDependencies}, convert(nodeParams));
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode,
                                        CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams_out,
              [](const CUgraphNodeParams& params) {
                const auto& p = params.memOp;
                return CUDA_BATCH_MEM_OP_NODE_PARAMS{p.ctx, p.count, p.paramArray, p.flags};
              });
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode,
                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) noexcept {
  return set_node(hNode, convert(nodeParams));
}

CUresult cuGraphExecBatchMemOpNodeSetParams(
    CUgraphExec hGraphExec, CUgraphNode hNode,
    const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) noexcept {
  return set_exec_node(hGraphExec, hNode, convert(nodeParams));
}

}  // namespace halfwarp::emulator::api
