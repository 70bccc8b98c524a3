// SPDX-License-Identifier: Apache-2.0
// Captures and nodes of the null driver; its only state is the set of capturing streams.
#include <array>
#include <atomic>

#include "emulator/null/outputs.hpp"
#include "emulator/null_driver.hpp"

namespace halfwarp::emulator::null_driver {

namespace {

// A capturing stream and its graph. Programs capture few streams at once; a stream without a free
// slot is reported as not capturing.
struct capture_slot {
  std::atomic<CUstream> stream{nullptr};
  std::atomic<CUgraph> graph{nullptr};
};

constinit std::array<capture_slot, 16> captures{};

capture_slot* find(CUstream stream) noexcept {
  if (!stream) return nullptr;
  for (auto& each : captures) {
    if (each.stream.load(std::memory_order_relaxed) == stream) return &each;
  }
  return nullptr;
}

CUresult begin(CUstream stream, CUgraph graph) noexcept {
  for (auto& each : captures) {
    CUstream none = nullptr;
    if (!each.stream.compare_exchange_strong(none, stream, std::memory_order_relaxed)) continue;
    each.graph.store(graph, std::memory_order_relaxed);
    break;
  }
  return CUDA_SUCCESS;
}

CUresult report_capture(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                        CUgraph* graph, const CUgraphNode** dependencies,
                        std::size_t* count) noexcept {
  const auto* const match = find(stream);
  store(status, match ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE);
  store(id, match ? 1 : 0);
  store(graph, match ? match->graph.load(std::memory_order_relaxed) : nullptr);
  zero(dependencies);
  zero(count);
  return CUDA_SUCCESS;
}

// Returns the body graphs that all conditional nodes share.
CUgraph* bodies() noexcept {
  static auto* const handles = [] {
    static std::array<CUgraph, 64> handles;
    for (auto& each : handles) store_handle(&each);
    return handles.data();
  }();
  return handles;
}

CUresult add(CUgraphNode* out, CUgraphNodeParams* parameters) noexcept {
  store_handle(out);
  if (!parameters) return CUDA_SUCCESS;
  if (parameters->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    parameters->conditional.phGraph_out = bodies();
  } else if (parameters->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
    store(&parameters->alloc.dptr, next_address(parameters->alloc.bytesize));
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode) noexcept {
  CUgraph graph;
  store_handle(&graph);
  return begin(hStream, graph);
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode*,
                                     const CUgraphEdgeData*, size_t, CUstreamCaptureMode) noexcept {
  return begin(hStream, hGraph);
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) noexcept {
  auto* const ended = find(hStream);
  if (!ended) {
    store_handle(phGraph);
    return CUDA_SUCCESS;
  }
  store(phGraph, ended->graph.load(std::memory_order_relaxed));
  ended->stream.store(nullptr, std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) noexcept {
  return report_capture(hStream, captureStatus, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   size_t* numDependencies_out) noexcept {
  return report_capture(hStream, captureStatus_out, id_out, graph_out, dependencies_out,
                        numDependencies_out);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   const CUgraphEdgeData** edgeData_out,
                                   size_t* numDependencies_out) noexcept {
  zero(edgeData_out);
  return report_capture(hStream, captureStatus_out, id_out, graph_out, dependencies_out,
                        numDependencies_out);
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
  store_handle(phGraphNode);
  if (nodeParams) store(&nodeParams->dptr, next_address(nodeParams->bytesize));
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) noexcept {
  store_handle(phGraphExec);
  if (instantiateParams) {
    instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    instantiateParams->hErrNode_out = nullptr;
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec, CUgraphNode, unsigned int* isEnabled) noexcept {
  store(isEnabled, 1);
  return CUDA_SUCCESS;
}

}  // namespace halfwarp::emulator::null_driver
