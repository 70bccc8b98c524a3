// SPDX-License-Identifier: Apache-2.0
// Stream capture: calls on a stream become nodes of a graph.
#pragma once

#include <cuda.h>

#include <memory>
#include <span>
#include <vector>

#include "emulator/graph/graph.hpp"

namespace halfwarp::emulator {

// A dependency of the next captured node. Ignored if `from` was removed from its graph.
struct capture_edge {
  std::shared_ptr<graph_node> from;
  CUgraphEdgeData data{};
};

std::vector<capture_edge> edges_from(std::span<graph_node* const> nodes,
                                     std::span<const CUgraphEdgeData> data = {});

// Adds the edges whose node is not yet in `to`.
void add_edges(std::vector<capture_edge>& to, const std::vector<capture_edge>& edges);

// A capture begins and ends in one stream. Other streams join it when they wait for events that
// were recorded in it. Guarded by the driver's lock.
struct capture {
  std::uint64_t id = 0;
  std::shared_ptr<emulator::graph> graph;
  bool is_user_graph = false;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  int thread = 0;       // the thread that began it
  CUstream origin = 0;  // the stream in which it began
  bool is_valid = true;
  bool is_over = false;
  std::vector<std::weak_ptr<stream>> streams;
  std::vector<capture_edge> detached_frontier;  // last nodes of destroyed streams
};

// The capture state of a stream: the nodes on which its next node depends.
struct stream_capture {
  std::shared_ptr<emulator::capture> capture;
  std::vector<capture_edge> frontier;
  std::vector<CUgraphNode> shown;  // the output of cuStreamGetCaptureInfo
  std::vector<CUgraphEdgeData> shown_data;
};

// The state of an event that was last recorded in a capturing stream.
struct captured_event {
  std::shared_ptr<emulator::capture> capture;
  std::vector<capture_edge> frontier;
};

void begin_capture(driver& d, stream& target, std::shared_ptr<graph> destination,
                   std::vector<capture_edge> dependencies, CUstreamCaptureMode mode);
// Ends a capture, even if called in the wrong thread, and returns its graph. Throws a refusal if
// the capture is invalid.
std::shared_ptr<graph> end_capture(driver& d, stream& target);

// Removes a stream that is being destroyed from its capture. The origin of the capture may still
// wait for the work of a joined stream. If the origin itself is destroyed, the capture ends.
void leave_capture(driver& d, stream& target);

// Returns the capture state of a stream, or null if it is not capturing. Refuses an invalid
// capture.
stream_capture* capture_of(stream& target);
// Adds a node that depends on the stream's last nodes. A programmatic node may overlap with the
// kernels before it.
graph_node& add_captured(driver& d, stream& target, std::shared_ptr<node_work> work,
                         bool is_programmatic = false);
// Makes a stream wait for a captured event: the stream joins the capture, or its next node depends
// on the nodes of the event.
void wait_for_captured(driver& d, stream& target, const captured_event& source);

// Invalidates a capture, as the driver does, and refuses with a code.
[[noreturn]] void refuse_and_invalidate(capture& target, CUresult code, const char* text);

// Refuses calls that the capture mode of the calling thread prohibits: immediate allocation and
// free, event queries, stream synchronization.
void require_safe_in_captures(driver& d);
// Refuses work in, or a query of, the legacy default stream if it would wait for a capture.
void require_no_implicit_wait(driver& d, stream& target, bool invalidates = true);
// Refuse calls that wait for, or query, a capturing stream or its context.
void require_not_capturing(driver& d, stream& target);
void require_nothing_captures(driver& d, const context& owner);

// Invalidates the captures of the context's streams; returns whether there was one.
bool invalidate_captures(driver& d, const context& owner);

}  // namespace halfwarp::emulator
