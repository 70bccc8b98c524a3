// SPDX-License-Identifier: Apache-2.0
// Captures and nodes of the null driver: which streams are being captured is all that it keeps.
#include <array>
#include <atomic>

#include "emulator/null/answer.hpp"
#include "emulator/null_driver.hpp"

namespace halfwarp::emulator::null_driver {

namespace {

// A stream that is being captured, and the graph. Programs capture few streams at once; one beyond
// those is told that it is not captured.
struct capture_slot {
  std::atomic<CUstream> in{nullptr};
  std::atomic<CUgraph> into{nullptr};
};

constinit std::array<capture_slot, 16> captures{};

capture_slot* find(CUstream in) noexcept {
  if (!in) return nullptr;
  for (auto& each : captures) {
    if (each.in.load(std::memory_order_relaxed) == in) return &each;
  }
  return nullptr;
}

CUresult begin(CUstream in, CUgraph into) noexcept {
  for (auto& each : captures) {
    CUstream none = nullptr;
    if (!each.in.compare_exchange_strong(none, in, std::memory_order_relaxed)) continue;
    each.into.store(into, std::memory_order_relaxed);
    break;
  }
  return CUDA_SUCCESS;
}

CUresult tell(CUstream in, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
              const CUgraphNode** dependencies, std::size_t* count) noexcept {
  const auto* const found = find(in);
  give(status, found ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE);
  give(id, found ? 1 : 0);
  give(graph, found ? found->into.load(std::memory_order_relaxed) : nullptr);
  zero(dependencies);
  zero(count);
  return CUDA_SUCCESS;
}

// The graphs of every conditional node.
CUgraph* bodies() noexcept {
  static auto* const made = [] {
    static std::array<CUgraph, 64> handles;
    for (auto& each : handles) fresh(&each);
    return handles.data();
  }();
  return made;
}

CUresult add(CUgraphNode* out, CUgraphNodeParams* parameters) noexcept {
  fresh(out);
  if (!parameters) return CUDA_SUCCESS;
  if (parameters->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    parameters->conditional.phGraph_out = bodies();
  } else if (parameters->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
    give(&parameters->alloc.dptr, next_address(parameters->alloc.bytesize));
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode) noexcept {
  CUgraph made;
  fresh(&made);
  return begin(hStream, made);
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode*,
                                     const CUgraphEdgeData*, size_t, CUstreamCaptureMode) noexcept {
  return begin(hStream, hGraph);
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) noexcept {
  auto* const ended = find(hStream);
  if (!ended) {
    fresh(phGraph);
    return CUDA_SUCCESS;
  }
  give(phGraph, ended->into.load(std::memory_order_relaxed));
  ended->in.store(nullptr, std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) noexcept {
  return tell(hStream, captureStatus, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   size_t* numDependencies_out) noexcept {
  return tell(hStream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   const CUgraphEdgeData** edgeData_out,
                                   size_t* numDependencies_out) noexcept {
  zero(edgeData_out);
  return tell(hStream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out);
}

CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph, const CUgraphNode*,
                           const CUgraphEdgeData*, size_t, CUgraphNodeParams* nodeParams) noexcept {
  return add(phGraphNode, nodeParams);
}

CUresult cuGraphAddNode_v3(CUgraphNode* phGraphNode, CUgraph, const CUgraphNode*,
                           const CUgraphEdgeData*, size_t, CUgraphNodeParams* nodeParams) noexcept {
  return add(phGraphNode, nodeParams);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph, const CUgraphNode*, size_t,
                                CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) noexcept {
  fresh(phGraphNode);
  if (nodeParams) give(&nodeParams->dptr, next_address(nodeParams->bytesize));
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) noexcept {
  fresh(phGraphExec);
  if (instantiateParams) {
    instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    instantiateParams->hErrNode_out = nullptr;
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec, CUgraphNode, unsigned int* isEnabled) noexcept {
  give(isEnabled, 1);
  return CUDA_SUCCESS;
}

}  // namespace halfwarp::emulator::null_driver
