// SPDX-License-Identifier: Apache-2.0
// Capturing streams: beginning, ending, asking, changing what the next node waits for.
#include "emulator/graph/capture.hpp"

#include <utility>

#include "emulator/api/graph/graph_call.hpp"

namespace halfwarp::emulator::api {
namespace {

CUstreamCaptureStatus status_of(const stream& in) {
  if (!in.capturing) return CU_STREAM_CAPTURE_STATUS_NONE;
  return in.capturing->of->is_valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                    : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

// A question about the legacy default stream has no answer while another stream that it waits for
// is being captured; asking does no harm.
std::shared_ptr<stream> asked_stream(call& c, CUstream raw) {
  auto found = c.stream_of(raw);
  require_no_implicit_wait(c.d, *found, false);
  return found;
}

struct capture_answer {
  CUstreamCaptureStatus* status;
  cuuint64_t* id;
  CUgraph* graph;
  const CUgraphNode** dependencies;
  const CUgraphEdgeData** data;
  std::size_t* count;
};

void tell(const call&, stream& in, const capture_answer& out) {
  *out.status = status_of(in);
  if (*out.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
  auto& state = *in.capturing;
  state.shown.clear();
  state.shown_data.clear();
  std::erase_if(state.frontier, [](const capture_edge& e) { return e.from->is_removed; });
  for (const auto& each : state.frontier) {
    state.shown.push_back(each.from->handle_as<CUgraphNode>());
    state.shown_data.push_back(each.data);
  }
  if (out.id) *out.id = state.of->id;
  if (out.graph) *out.graph = state.of->into->handle_as<CUgraph>();
  if (out.dependencies) *out.dependencies = state.shown.data();
  if (out.data) *out.data = state.shown_data.data();
  if (out.count) *out.count = state.frontier.size();
}

}  // namespace

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) noexcept {
  return answer([&](call& c) { begin_capture(c.d, *c.stream_of(hStream), nullptr, {}, mode); });
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                     const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                     CUstreamCaptureMode mode) noexcept {
  return answer([&](call& c) {
    const auto in = c.stream_of(hStream);
    auto into = graph_of(c, hGraph);
    const auto after = nodes_of(c, dependencies, numDependencies);
    into->require_dependencies(after);
    auto edges = edges_from(after, data_of(dependencyData, numDependencies));
    begin_capture(c.d, *in, std::move(into), std::move(edges), mode);
  });
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) noexcept {
  return answer([&](call& c) {
    require_outputs(phGraph);
    *phGraph = nullptr;
    *phGraph = end_capture(c.d, *c.stream_of(hStream))->handle_as<CUgraph>();
  });
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) noexcept {
  return answer([&](call& c) {
    require_outputs(captureStatus);
    *captureStatus = status_of(*asked_stream(c, hStream));
  });
}

CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   const CUgraphEdgeData** edgeData_out,
                                   size_t* numDependencies_out) noexcept {
  return answer([&](call& c) {
    require_outputs(captureStatus_out);
    tell(c, *asked_stream(c, hStream),
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
  return answer([&](call& c) {
    auto* const state = capture_of(*c.stream_of(hStream));
    require(state != nullptr, CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
    require(
        flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES || flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES,
        CUDA_ERROR_INVALID_VALUE, "the flags are CU_STREAM_ADD_ or _SET_CAPTURE_DEPENDENCIES");
    const auto given = nodes_of(c, dependencies, numDependencies);
    state->of->into->require_dependencies(given);
    const auto edges = edges_from(given, data_of(dependencyData, numDependencies));
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) state->frontier.clear();
    add_edges(state->frontier, edges);
  });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) noexcept {
  return answer_unlocked([&] {
    require_outputs(mode);
    require(*mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && *mode <= CU_STREAM_CAPTURE_MODE_RELAXED,
            CUDA_ERROR_INVALID_VALUE, "cuda.h has no such capture mode");
    std::swap(*mode, this_thread().capture_mode);
  });
}

}  // namespace halfwarp::emulator::api
