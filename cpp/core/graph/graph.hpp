// SPDX-License-Identifier: Apache-2.0
// Graphs and executable graphs: reference-counted, and never destroyed in a child process.
#pragma once

#include "core/context.hpp"
#include "core/graph/graph_lock.hpp"
#include "core/stream.hpp"

namespace halfwarp::core {

struct graph_facts {};

// A top-level graph. The graph of a child node and the body of a conditional node are borrowed raw
// values, stored beside a handle to their top-level graph.
struct graph_traits {
  using raw_type = CUgraph;
  using parent_type = no_parent;
  using facts_type = graph_facts;
  static constexpr const char* destroyer = "cuGraphDestroy";
  static constexpr bool is_registered = false;
  static CUresult destroy(CUgraph raw, const graph_facts&) noexcept;
};

using graph_ref = handle_ref<graph_traits>;
using graph_handle = handle<graph_traits>;

[[nodiscard]] graph_handle create_graph();

// Takes ownership of a graph that the driver created, for instance of a capture's graph.
[[nodiscard]] graph_handle own_graph(CUgraph raw);

// The driver keeps an executable graph alive while a launch of it runs.
struct graph_exec_traits {
  using raw_type = CUgraphExec;
  using parent_type = context_instance;  // null if no context was current at instantiation
  using facts_type = graph_facts;
  static constexpr const char* destroyer = "cuGraphExecDestroy";
  static constexpr bool is_registered = false;
  static CUresult destroy(CUgraphExec raw, const graph_facts&) noexcept;
};

using graph_exec_ref = handle_ref<graph_exec_traits>;
using graph_exec_handle = handle<graph_exec_traits>;

// Throws driver_error; `params` then holds the reason.
[[nodiscard]] graph_exec_handle instantiate(graph_lock& lock, CUgraph graph,
                                            CUDA_GRAPH_INSTANTIATE_PARAMS& params);

// The capture of a stream; the other members are valid only if `status` is active.
struct capture_info {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;  // unique to this capture
  CUgraph graph = nullptr;
  const CUgraphNode* last = nullptr;  // valid until the next call on the stream
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
};

[[nodiscard]] CUresult find_capture(const stream_ref& stream, capture_info& info) noexcept;

// Makes the next node that the stream captures depend on `node`.
[[nodiscard]] CUresult continue_after(const stream_ref& stream, CUgraphNode node) noexcept;

// Makes a graph retain `object`. The driver calls `release`, on any thread, after it destroyed the
// last graph, executable graph and launch that refer to it. On failure calls `release` and throws
// driver_error. `lock` is null for a graph that is being captured.
CUuserObject retain_in_graph(graph_lock* lock, CUgraph graph, void* object, CUhostFn release);

// Calls cuGraphLaunch with the lock held and the GIL released.
[[nodiscard]] CUresult launch_executable(graph_lock& lock, CUgraphExec launched,
                                         CUstream stream) noexcept;

// Calls cuGraphExecUpdate with both locks held and the GIL released.
[[nodiscard]] CUresult update_executable(graph_lock& lock, graph_lock& source_lock,
                                         CUgraphExec updated, CUgraph source,
                                         CUgraphExecUpdateResultInfo& result) noexcept;

// Ends the stream's capture in whatever state, and discards its graph. For cleanup.
void abandon_capture(const stream_ref& stream) noexcept;

// Ends an active capture into a graph that belongs to another graph, which keeps the nodes. Leaves
// an invalidated capture to the end of the outer capture: further calls can crash the driver.
void leave_capture(const stream_ref& stream) noexcept;

}  // namespace halfwarp::core
