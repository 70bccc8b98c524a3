// SPDX-License-Identifier: Apache-2.0
// Stream capture: calls on a stream become nodes of a graph.
#pragma once

#include <cuda.h>

#include <memory>
#include <span>
#include <vector>

#include "emulator/graph/graph.hpp"

namespace halfwarp::emulator {

// A node that the next one will depend on, unless it is removed from its graph before.
struct capture_edge {
  std::shared_ptr<graph_node> from;
  CUgraphEdgeData data{};
};

std::vector<capture_edge> edges_from(std::span<graph_node* const> nodes,
                                     std::span<const CUgraphEdgeData> data = {});

// Adds those from nodes that are not there yet.
void add_edges(std::vector<capture_edge>& to, const std::vector<capture_edge>& more);

// One capture, from its beginning in one stream to its end there; other streams join it by waiting
// for events that were recorded in it. Guarded by the driver's lock.
struct capture {
  std::uint64_t id = 0;
  std::shared_ptr<graph> into;
  bool is_into_users_graph = false;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  int thread = 0;       // that began it
  CUstream origin = 0;  // where it began
  bool is_valid = true;
  bool is_over = false;
  std::vector<std::weak_ptr<stream>> streams;
  std::vector<capture_edge> left_behind;  // last nodes of streams that were destroyed meanwhile
};

// The part of a capturing stream: the nodes that the next one depends on.
struct stream_capture {
  std::shared_ptr<capture> of;
  std::vector<capture_edge> frontier;
  std::vector<CUgraphNode> shown;  // what cuStreamGetCaptureInfo points its caller at
  std::vector<CUgraphEdgeData> shown_data;
};

// An event that was last recorded in a capturing stream.
struct captured_event {
  std::shared_ptr<capture> of;
  std::vector<capture_edge> frontier;
};

void begin_capture(driver& d, stream& in, std::shared_ptr<graph> into,
                   std::vector<capture_edge> after, CUstreamCaptureMode mode);
// Takes the capture's streams out of it, in the wrong thread too. Its graph; none when the capture
// was, or now is, invalid, for the reason that is thrown.
std::shared_ptr<graph> end_capture(driver& d, stream& in);

// The stream is destroyed: one that joined the capture may go when its work is waited for by then,
// or later; with the one where it began the capture is over, and the others capture nothing.
void leave_capture(driver& d, stream& in);

// The capture of a stream that may take another node; null when the stream captures nothing.
// Refuses when the capture is invalid.
stream_capture* capture_of(stream& in);
// Adds a node after the stream's last ones. A programmatic one may overlap with kernels before it.
graph_node& add_captured(driver& d, stream& in, node_work work, bool is_programmatic = false);
// A stream waits for a captured event: joins the capture, or its nodes.
void wait_for_captured(driver& d, stream& in, const captured_event& what);

// Refuses with a code, after making a capture useless as the driver does.
[[noreturn]] void refuse_and_invalidate(capture& of, CUresult code, const char* text);

// For calls that could disturb a capture, in the mode of the calling thread: memory that is
// allocated or freed at once, questions about events, waiting for a stream.
void require_safe_in_captures(driver& d);
// For work on, or a question about, the legacy default stream: it would wait for the capture.
void require_no_implicit_wait(driver& d, stream& in, bool invalidates = true);
// For calls that wait for, or ask about, a stream or a whole context.
void require_not_capturing(driver& d, stream& in);
void require_nothing_captures(driver& d, const context& in);

// Ends the captures that streams of the context are in, as invalid ones; whether there was one.
bool invalidate_captures(driver& d, const context& in);

}  // namespace halfwarp::emulator
