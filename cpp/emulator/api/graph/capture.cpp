// SPDX-License-Identifier: Apache-2.0
// Begins, ends and queries captures; changes the dependencies of the next node.
#include "emulator/graph/capture.hpp"

#include <utility>

#include "emulator/api/graph/graph_call.hpp"

namespace halfwarp::emulator::api {
namespace {

CUstreamCaptureStatus status_of(const stream& target) {
  if (!target.capturing) return CU_STREAM_CAPTURE_STATUS_NONE;
  return target.capturing->capture->is_valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                             : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

// Returns the stream of a query. Refuses the legacy default stream if a stream that it waits for is
// capturing, without invalidating that capture.
std::shared_ptr<stream> queried_stream(call& c, CUstream raw) {
  auto target = c.stream_of(raw);
  require_no_implicit_wait(c.d, *target, false);
  return target;
}

struct capture_outputs {
  CUstreamCaptureStatus* status;
  cuuint64_t* id;
  CUgraph* graph;
  const CUgraphNode** dependencies;
  const CUgraphEdgeData** data;
  std::size_t* count;
};

void write_outputs(const call&, stream& target, const capture_outputs& out) {
  *out.status = status_of(target);
  if (*out.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
  auto& state = *target.capturing;
  state.shown.clear();
  state.shown_data.clear();
  std::erase_if(state.frontier, [](const capture_edge& e) { return e.from->is_removed; });
  for (const auto& each : state.frontier) {
    state.shown.push_back(each.from->handle_as<CUgraphNode>());
    state.shown_data.push_back(each.data);
  }
  if (out.id) *out.id = state.capture->id;
  if (out.graph) *out.graph = state.capture->graph->handle_as<CUgraph>();
  if (out.dependencies) *out.dependencies = state.shown.data();
  if (out.data) *out.data = state.shown_data.data();
  if (out.count) *out.count = state.frontier.size();
}

}  // namespace

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) noexcept {
  return run_locked([&](call& c) { begin_capture(c.d, *c.stream_of(hStream), nullptr, {}, mode); });
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                     const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                     CUstreamCaptureMode mode) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.stream_of(hStream);
    auto destination = graph_of(c, hGraph);
    const auto dependency_nodes = nodes_of(c, dependencies, numDependencies);
    destination->require_dependencies(dependency_nodes);
    auto edges = edges_from(dependency_nodes, data_of(dependencyData, numDependencies));
    begin_capture(c.d, *target, std::move(destination), std::move(edges), mode);
  });
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.stream_of(hStream);
    // A program that captured to its own graph needs no output.
    const bool is_known = target->capturing && target->capturing->capture->is_user_graph;
    if (!is_known) require_outputs(phGraph);
    if (phGraph) *phGraph = nullptr;
    const auto ended = end_capture(c.d, *target);
    if (phGraph) *phGraph = ended->handle_as<CUgraph>();
  });
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) noexcept {
  return run_locked([&](call& c) {
    require_outputs(captureStatus);
    *captureStatus = status_of(*queried_stream(c, hStream));
  });
}

CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   const CUgraphEdgeData** edgeData_out,
                                   size_t* numDependencies_out) noexcept {
  return run_locked([&](call& c) {
    require_outputs(captureStatus_out);
    write_outputs(c, *queried_stream(c, hStream),
                  {captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                   numDependencies_out});
  });
}

CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   size_t* numDependencies_out) noexcept {
  return api::cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out,
                                        dependencies_out, nullptr, numDependencies_out);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode* dependencies,
                                              const CUgraphEdgeData* dependencyData,
                                              size_t numDependencies, unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    auto* const state = capture_of(*c.stream_of(hStream));
    require(state != nullptr, CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
    require(
        flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES || flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES,
        CUDA_ERROR_INVALID_VALUE, "the flags are CU_STREAM_ADD_ or _SET_CAPTURE_DEPENDENCIES");
    const auto nodes = nodes_of(c, dependencies, numDependencies);
    state->capture->graph->require_dependencies(nodes);
    const auto edges = edges_from(nodes, data_of(dependencyData, numDependencies));
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) state->frontier.clear();
    add_edges(state->frontier, edges);
  });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) noexcept {
  return run_unlocked([&] {
    require_outputs(mode);
    require(*mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && *mode <= CU_STREAM_CAPTURE_MODE_RELAXED,
            CUDA_ERROR_INVALID_VALUE, "cuda.h has no such capture mode");
    std::swap(*mode, this_thread().capture_mode);
  });
}

}  // namespace halfwarp::emulator::api
