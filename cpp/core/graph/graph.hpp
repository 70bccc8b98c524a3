// SPDX-License-Identifier: Apache-2.0
// Graphs and their executables: counted, destroyed once, never in the child of a fork.
#pragma once

#include "core/context.hpp"
#include "core/graph/graph_lock.hpp"
#include "core/stream.hpp"

namespace halfwarp::core {

struct graph_facts {};

// A graph that stands alone. What belongs to a node of another one, the graph of a child node or
// the body of a conditional, is a borrowed raw value, beside a share of the graph at the top.
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

// Takes a graph over that the driver made, for instance the one of a capture.
[[nodiscard]] graph_handle own_graph(CUgraph raw);

// What becomes of an executable while a launch of it runs is the driver's: it stays until then.
struct graph_exec_traits {
  using raw_type = CUgraphExec;
  using parent_type = context_instance;  // in which it was instantiated; null: in none
  using facts_type = graph_facts;
  static constexpr const char* destroyer = "cuGraphExecDestroy";
  static constexpr bool is_registered = false;
  static CUresult destroy(CUgraphExec raw, const graph_facts&) noexcept;
};

using graph_exec_ref = handle_ref<graph_exec_traits>;
using graph_exec_handle = handle<graph_exec_traits>;

// Throws driver_error; `how` says why then.
[[nodiscard]] graph_exec_handle instantiate(graph_lock& lock, CUgraph graph,
                                            CUDA_GRAPH_INSTANTIATE_PARAMS& how);

// The capture of a stream: none of the members counts unless it is active.
struct capture_info {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;  // of this capture alone
  CUgraph graph = nullptr;
  const CUgraphNode* last = nullptr;  // valid until the next call on the stream
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
};

[[nodiscard]] CUresult find_capture(const stream_ref& stream, capture_info& found) noexcept;

// The nodes that were added from here on are what the stream's next one waits for.
[[nodiscard]] CUresult continue_after(const stream_ref& stream, CUgraphNode node) noexcept;

// Lets a graph hold an object, which `release` gets when the last graph, executable and launch made
// of it is gone, on any thread; or now, where the driver refuses. Throws driver_error then. The
// lock is null for a graph that is being captured.
CUuserObject retain_in_graph(graph_lock* lock, CUgraph graph, void* object, CUhostFn release);

// As cuGraphExecUpdate, with both locks, and without the interpreter lock.
[[nodiscard]] CUresult update_executable(graph_lock& lock, graph_lock& source_lock,
                                         CUgraphExec updated, CUgraph source,
                                         CUgraphExecUpdateResultInfo& result) noexcept;

// For clean-up: ends a capture, whatever state it is in, and drops what was recorded.
void abandon_capture(const stream_ref& stream) noexcept;

// The same for a capture into a graph that belongs to another one, which keeps what was recorded. A
// capture that is broken is left to the end of the other one: drivers do not survive more.
void leave_capture(const stream_ref& stream) noexcept;

}  // namespace halfwarp::core
