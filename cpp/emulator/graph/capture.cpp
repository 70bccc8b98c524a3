// SPDX-License-Identifier: Apache-2.0
// The rules of capture, and the codes that the driver returns for violations.
#include "emulator/graph/capture.hpp"

#include <algorithm>
#include <utility>

#include "emulator/driver/thread.hpp"
#include "emulator/object/current_call.hpp"
#include "emulator/settings/refusal.hpp"

namespace halfwarp::emulator {
namespace {

// Removes captures that have ended or whose origin stream was destroyed.
void prune_ended(driver& d) {
  std::erase_if(d.captures, [&](const std::shared_ptr<capture>& each) {
    return each->is_over || !d.objects.find<stream>(each->origin);
  });
}

template <class Each>
void for_each_stream(const capture& source, Each&& visit) {
  for (const auto& each : source.streams) {
    const auto target = each.lock();
    if (target && target->capturing && target->capturing->capture.get() == &source) visit(*target);
  }
}

// Returns whether the driver protects a capture from unsafe calls of this thread.
bool is_protected(const capture& source, CUstreamCaptureMode thread_mode) {
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
      source.mode == CU_STREAM_CAPTURE_MODE_RELAXED) {
    return false;
  }
  if (source.thread == this_call().thread) return true;
  return thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
         source.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

// Returns the nodes that are still in their graph.
std::vector<graph_node*> nodes_of(const std::vector<capture_edge>& edges) {
  std::vector<graph_node*> nodes;
  for (const auto& each : edges) {
    if (!each.from->is_removed) nodes.push_back(each.from.get());
  }
  return nodes;
}

bool has_unjoined(const capture& source, const stream& origin) {
  const auto joined = nodes_of(origin.capturing->frontier);
  auto ends = source.detached_frontier;
  for_each_stream(source, [&](stream& each) {
    if (&each != &origin) add_edges(ends, each.capturing->frontier);
  });
  return std::ranges::any_of(nodes_of(ends), [&](const graph_node* node) {
    return !source.graph->leads_to(*node, joined);
  });
}

void detach_streams(capture& source) {
  for_each_stream(source, [](stream& each) { each.capturing.reset(); });
  source.is_over = true;
}

// Destroys the graph of a failed capture, unless it belongs to the program.
void discard_graph(driver& d, const capture& source) {
  if (source.is_user_graph) return;
  source.graph->clear(d);
  d.objects.remove(*source.graph);
}

constexpr CUgraphEdgeData programmatic{
    CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, {}};

}  // namespace

std::vector<capture_edge> edges_from(std::span<graph_node* const> nodes,
                                     std::span<const CUgraphEdgeData> data) {
  std::vector<capture_edge> edges;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    edges.push_back({std::static_pointer_cast<graph_node>(nodes[i]->shared_from_this()),
                     data.empty() ? CUgraphEdgeData{} : data[i]});
  }
  return edges;
}

void add_edges(std::vector<capture_edge>& to, const std::vector<capture_edge>& edges) {
  for (const auto& each : edges) {
    if (std::ranges::find(to, each.from, &capture_edge::from) == to.end()) to.push_back(each);
  }
}

void begin_capture(driver& d, stream& target, std::shared_ptr<graph> destination,
                   std::vector<capture_edge> dependencies, CUstreamCaptureMode mode) {
  require(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED,
          CUDA_ERROR_INVALID_VALUE, "cuda.h has no such capture mode");
  require(!target.is_legacy(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "the legacy default stream cannot be captured");
  require(!target.capturing, CUDA_ERROR_ILLEGAL_STATE, "the stream is already being captured");
  prune_ended(d);
  const auto started = std::make_shared<capture>();
  started->id = ++d.captures_begun;
  started->is_user_graph = destination != nullptr;
  started->graph = destination ? std::move(destination) : d.objects.make<graph>();
  // The program has no handle of it before the capture ends.
  if (!started->is_user_graph) started->graph->is_library_owned = true;
  started->mode = mode;
  started->thread = this_call().thread;
  started->origin = target.handle_as<CUstream>();
  started->streams.push_back(target.as_shared());
  target.capturing = std::make_shared<stream_capture>();
  target.capturing->capture = started;
  target.capturing->frontier = std::move(dependencies);
  d.captures.push_back(started);
}

std::shared_ptr<graph> end_capture(driver& d, stream& target) {
  require(target.capturing != nullptr, CUDA_ERROR_ILLEGAL_STATE,
          "the stream is not being captured");
  const auto ended = target.capturing->capture;
  const bool is_wrong_thread = ended->is_valid && ended->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
                               ended->thread != this_call().thread;
  if (!is_wrong_thread && ended->is_valid && ended->origin != target.handle_as<CUstream>()) {
    refuse_and_invalidate(*ended, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                          "the capture began in another stream");
  }
  const bool is_unjoined = ended->is_valid && has_unjoined(*ended, target);
  detach_streams(*ended);
  prune_ended(d);
  if (ended->is_valid && !is_unjoined && !is_wrong_thread) {
    if (!ended->is_user_graph) ended->graph->is_library_owned = false;
    return ended->graph;
  }
  discard_graph(d, *ended);
  require(!is_wrong_thread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
          "the capture, which is now ended, began in another thread in a mode other than relaxed");
  require(!is_unjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
          "a stream that joined the capture has work for which the origin does not wait");
  refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "an earlier call made the capture invalid");
}

void leave_capture(driver& d, stream& target) {
  const auto state = target.capturing;
  if (!state) return;
  if (state->capture->origin == target.handle_as<CUstream>()) {
    detach_streams(*state->capture);
    prune_ended(d);
    discard_graph(d, *state->capture);
    return;
  }
  target.capturing.reset();
  add_edges(state->capture->detached_frontier, state->frontier);
}

stream_capture* capture_of(stream& target) {
  if (!target.capturing) return nullptr;
  require(target.capturing->capture->is_valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
          "an earlier call made the capture of this stream invalid; end it");
  return target.capturing.get();
}

graph_node& add_captured(driver& d, stream& target, std::shared_ptr<node_work> work,
                         bool is_programmatic) {
  auto& state = *capture_of(target);
  auto& destination = *state.capture->graph;
  if (!work->context) work->context = target.shared_owner();
  std::vector<CUgraphEdgeData> data;
  std::erase_if(state.frontier, [](const capture_edge& e) { return e.from->is_removed; });
  for (const auto& each : state.frontier) {
    const bool overlaps = is_programmatic && each.from->type() == CU_GRAPH_NODE_TYPE_KERNEL;
    data.push_back(overlaps ? programmatic : each.data);
  }
  auto& node = destination.add(d, std::move(work), nodes_of(state.frontier), data);
  graph_node* const added[] = {&node};
  state.frontier = edges_from(added);
  return node;
}

void wait_for_captured(driver& d, stream& target, const captured_event& source) {
  const bool is_over = source.capture->is_over;
  if (auto* const state = capture_of(target)) {
    if (is_over) {
      refuse_and_invalidate(*state->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                            "the event was recorded in a capture that has ended");
    }
    if (state->capture != source.capture) {
      source.capture->is_valid = false;
      refuse_and_invalidate(*state->capture, CUDA_ERROR_STREAM_CAPTURE_MERGE,
                            "the wait would merge two captures");
    }
    add_edges(state->frontier, source.frontier);
    return;
  }
  require(!is_over, CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a capture");
  require(source.capture->is_valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
          "the capture in which the event was recorded is invalid");
  if (target.is_legacy()) require_no_implicit_wait(d, target);
  require(!target.is_legacy(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "the legacy default stream cannot join a capture");
  source.capture->streams.push_back(target.as_shared());
  target.capturing = std::make_shared<stream_capture>();
  target.capturing->capture = source.capture;
  target.capturing->frontier = source.frontier;
}

void refuse_and_invalidate(capture& target, CUresult code, const char* text) {
  target.is_valid = false;
  refuse(code, text);
}

void require_safe_in_captures(driver& d) {
  if (d.captures.empty()) return;
  prune_ended(d);
  const auto mode = this_thread().capture_mode;
  bool is_disturbing = false;
  for (const auto& each : d.captures) {
    if (!is_protected(*each, mode)) continue;
    is_disturbing = true;
    each->is_valid = false;
  }
  require(!is_disturbing, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "a stream is being captured, and this call could disturb it; "
          "cuThreadExchangeStreamCaptureMode lets a thread make such calls");
}

void require_no_implicit_wait(driver& d, stream& target, bool invalidates) {
  if (d.captures.empty() || !target.is_legacy()) return;
  prune_ended(d);
  bool would_wait = false;
  for (const auto& each : d.captures) {
    bool is_concerned = false;
    for_each_stream(*each, [&](const stream& capturing) {
      is_concerned =
          is_concerned || (capturing.is_blocking() && &capturing.owner() == &target.owner());
    });
    if (!is_concerned) continue;
    would_wait = true;
    if (invalidates) each->is_valid = false;
  }
  require(!would_wait, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
          "the legacy default stream would wait for a stream that is being captured");
}

void require_not_capturing(driver& d, stream& target) {
  if (target.capturing) {
    refuse_and_invalidate(*target.capturing->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                          "a stream that is being captured cannot be synchronized or queried");
  }
  require_no_implicit_wait(d, target);
}

bool invalidate_captures(driver& d, const context& owner) {
  if (d.captures.empty()) return false;
  prune_ended(d);
  bool has_capture = false;
  for (const auto& each : d.captures) {
    for_each_stream(*each, [&](const stream& capturing) {
      if (&capturing.owner() != &owner) return;
      has_capture = true;
      each->is_valid = false;
    });
  }
  return has_capture;
}

void require_nothing_captures(driver& d, const context& owner) {
  require(!invalidate_captures(d, owner), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "a context with a stream that is being captured cannot be synchronized");
}

}  // namespace halfwarp::emulator
