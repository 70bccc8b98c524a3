// SPDX-License-Identifier: Apache-2.0
// The rules of capture, with the codes that the driver answers when one is broken.
#include "emulator/graph/capture.hpp"

#include <algorithm>
#include <utility>

#include "emulator/driver/thread.hpp"
#include "emulator/object/current_call.hpp"
#include "emulator/settings/refusal.hpp"

namespace halfwarp::emulator {
namespace {

// Captures whose streams went away, with their context or by themselves, are over.
void forget_ended(driver& d) {
  std::erase_if(d.captures, [&](const std::shared_ptr<capture>& each) {
    return each->is_over || !d.objects.find<stream>(each->origin);
  });
}

template <class Each>
void for_each_stream(const capture& of, Each&& what) {
  for (const auto& each : of.streams) {
    const auto in = each.lock();
    if (in && in->capturing && in->capturing->of.get() == &of) what(*in);
  }
}

// Whether the driver keeps unsafe calls of this thread from disturbing a capture.
bool is_protected(const capture& of, CUstreamCaptureMode thread_mode) {
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED || of.mode == CU_STREAM_CAPTURE_MODE_RELAXED) {
    return false;
  }
  if (of.thread == this_call().thread) return true;
  return thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && of.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

// The nodes that were not removed meanwhile.
std::vector<graph_node*> nodes_of(const std::vector<capture_edge>& edges) {
  std::vector<graph_node*> found;
  for (const auto& each : edges) {
    if (!each.from->is_removed) found.push_back(each.from.get());
  }
  return found;
}

bool has_unjoined(const capture& of, const stream& origin) {
  const auto joined = nodes_of(origin.capturing->frontier);
  auto ends = of.left_behind;
  for_each_stream(of, [&](stream& each) {
    if (&each != &origin) add_edges(ends, each.capturing->frontier);
  });
  return std::ranges::any_of(
      nodes_of(ends), [&](const graph_node* node) { return !of.into->leads_to(*node, joined); });
}

void take_out_streams(capture& of) {
  for_each_stream(of, [](stream& each) { each.capturing.reset(); });
  of.is_over = true;
}

// The graph of a capture that did not go well, unless it is the program's.
void drop_graph(driver& d, const capture& of) {
  if (of.is_into_users_graph) return;
  of.into->clear(d);
  d.objects.remove(*of.into);
}

constexpr CUgraphEdgeData programmatic{
    CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, {}};

}  // namespace

std::vector<capture_edge> edges_from(std::span<graph_node* const> nodes,
                                     std::span<const CUgraphEdgeData> data) {
  std::vector<capture_edge> made;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    made.push_back({std::static_pointer_cast<graph_node>(nodes[i]->shared_from_this()),
                    data.empty() ? CUgraphEdgeData{} : data[i]});
  }
  return made;
}

void add_edges(std::vector<capture_edge>& to, const std::vector<capture_edge>& more) {
  for (const auto& each : more) {
    if (std::ranges::find(to, each.from, &capture_edge::from) == to.end()) to.push_back(each);
  }
}

void begin_capture(driver& d, stream& in, std::shared_ptr<graph> into,
                   std::vector<capture_edge> after, CUstreamCaptureMode mode) {
  require(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED,
          CUDA_ERROR_INVALID_VALUE, "cuda.h has no such capture mode");
  require(!in.is_legacy(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "the legacy default stream cannot be captured");
  require(!in.capturing, CUDA_ERROR_ILLEGAL_STATE, "the stream is being captured already");
  forget_ended(d);
  const auto made = std::make_shared<capture>();
  made->id = ++d.captures_begun;
  made->is_into_users_graph = into != nullptr;
  made->into = into ? std::move(into) : d.objects.make<graph>();
  // Until it is handed over, nobody can destroy it.
  if (!made->is_into_users_graph) made->into->is_library_owned = true;
  made->mode = mode;
  made->thread = this_call().thread;
  made->origin = in.handle_as<CUstream>();
  made->streams.push_back(in.as_shared());
  in.capturing = std::make_shared<stream_capture>();
  in.capturing->of = made;
  in.capturing->frontier = std::move(after);
  d.captures.push_back(made);
}

std::shared_ptr<graph> end_capture(driver& d, stream& in) {
  require(in.capturing != nullptr, CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
  const auto ended = in.capturing->of;
  const bool is_wrong_thread = ended->is_valid && ended->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
                               ended->thread != this_call().thread;
  if (!is_wrong_thread && ended->is_valid && ended->origin != in.handle_as<CUstream>()) {
    refuse_and_invalidate(*ended, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                          "the capture was begun in another stream");
  }
  const bool is_unjoined = ended->is_valid && has_unjoined(*ended, in);
  take_out_streams(*ended);
  forget_ended(d);
  if (ended->is_valid && !is_unjoined && !is_wrong_thread) {
    if (!ended->is_into_users_graph) ended->into->is_library_owned = false;
    return ended->into;
  }
  drop_graph(d, *ended);
  require(!is_wrong_thread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
          "the capture, which is over now, was begun in another thread, in a mode other than "
          "relaxed");
  require(!is_unjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
          "a stream that joined the capture has work which its origin does not wait for");
  refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "an earlier call made the capture invalid");
}

void leave_capture(driver& d, stream& in) {
  const auto state = in.capturing;
  if (!state) return;
  if (state->of->origin == in.handle_as<CUstream>()) {
    take_out_streams(*state->of);
    forget_ended(d);
    drop_graph(d, *state->of);
    return;
  }
  in.capturing.reset();
  add_edges(state->of->left_behind, state->frontier);
}

stream_capture* capture_of(stream& in) {
  if (!in.capturing) return nullptr;
  require(in.capturing->of->is_valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
          "an earlier call made the capture of this stream invalid; end it");
  return in.capturing.get();
}

graph_node& add_captured(driver& d, stream& in, node_work work, bool is_programmatic) {
  auto& state = *capture_of(in);
  auto& into = *state.of->into;
  if (!work.where) work.where = in.shared_owner();
  std::vector<CUgraphEdgeData> data;
  std::erase_if(state.frontier, [](const capture_edge& e) { return e.from->is_removed; });
  for (const auto& each : state.frontier) {
    const bool overlaps = is_programmatic && each.from->work.type == CU_GRAPH_NODE_TYPE_KERNEL;
    data.push_back(overlaps ? programmatic : each.data);
  }
  auto& made = into.add(d, std::move(work), nodes_of(state.frontier), data);
  graph_node* const added[] = {&made};
  state.frontier = edges_from(added);
  return made;
}

void wait_for_captured(driver& d, stream& in, const captured_event& what) {
  const bool is_over = what.of->is_over;
  if (auto* const state = capture_of(in)) {
    if (is_over) {
      refuse_and_invalidate(*state->of, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                            "the event was recorded in a capture that has ended");
    }
    if (state->of != what.of) {
      what.of->is_valid = false;
      refuse_and_invalidate(*state->of, CUDA_ERROR_STREAM_CAPTURE_MERGE,
                            "the wait would merge two captures");
    }
    add_edges(state->frontier, what.frontier);
    return;
  }
  require(!is_over, CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a capture");
  require(what.of->is_valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
          "the capture in which the event was recorded is invalid");
  if (in.is_legacy()) require_no_implicit_wait(d, in);
  require(!in.is_legacy(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "the legacy default stream cannot join a capture");
  what.of->streams.push_back(in.as_shared());
  in.capturing = std::make_shared<stream_capture>();
  in.capturing->of = what.of;
  in.capturing->frontier = what.frontier;
}

void refuse_and_invalidate(capture& of, CUresult code, const char* text) {
  of.is_valid = false;
  refuse(code, text);
}

void require_safe_in_captures(driver& d) {
  if (d.captures.empty()) return;
  forget_ended(d);
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

void require_no_implicit_wait(driver& d, stream& in, bool invalidates) {
  if (d.captures.empty() || !in.is_legacy()) return;
  forget_ended(d);
  bool would_wait = false;
  for (const auto& each : d.captures) {
    bool concerns = false;
    for_each_stream(*each, [&](const stream& capturing) {
      concerns = concerns || (capturing.is_blocking() && &capturing.owner() == &in.owner());
    });
    if (!concerns) continue;
    would_wait = true;
    if (invalidates) each->is_valid = false;
  }
  require(!would_wait, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
          "the legacy default stream would wait for a stream that is being captured");
}

void require_not_capturing(driver& d, stream& in) {
  if (in.capturing) {
    refuse_and_invalidate(*in.capturing->of, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                          "a stream that is being captured cannot be waited for or asked");
  }
  require_no_implicit_wait(d, in);
}

bool invalidate_captures(driver& d, const context& in) {
  if (d.captures.empty()) return false;
  forget_ended(d);
  bool is_any = false;
  for (const auto& each : d.captures) {
    for_each_stream(*each, [&](const stream& capturing) {
      if (&capturing.owner() != &in) return;
      is_any = true;
      each->is_valid = false;
    });
  }
  return is_any;
}

void require_nothing_captures(driver& d, const context& in) {
  require(!invalidate_captures(d, in), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "a context with a stream that is being captured cannot be waited for");
}

}  // namespace halfwarp::emulator
