// SPDX-License-Identifier: Apache-2.0
// Graphs and their executables: counted, destroyed once, never in the child of a fork.
#include "core/graph/graph.hpp"

#include <atomic>
#include <new>

namespace halfwarp::core {
namespace {

// What a callback of a graph, where the driver permits no calls, gave up: destroyed with the next
// graph that goes or comes on another thread.
struct refused {
  CUgraph graph;
  CUgraphExec executable;
  std::uint32_t generation;
  refused* next;
};
constinit std::atomic<refused*> first_refused{nullptr};

CUresult destroy_now(const refused& gone) noexcept {
  if (gone.graph != nullptr) return driver::try_call(driver::table->cuGraphDestroy, gone.graph);
  return driver::try_call(driver::table->cuGraphExecDestroy, gone.executable);
}

void push(refused* given) noexcept {
  given->next = first_refused.load(std::memory_order_relaxed);
  while (!first_refused.compare_exchange_weak(given->next, given, std::memory_order_release,
                                              std::memory_order_relaxed)) {
  }
}

CUresult destroy_or_keep(const refused& gone) noexcept {
  const CUresult code = destroy_now(gone);
  if (code != CUDA_ERROR_NOT_PERMITTED) return code;
  auto* const kept = new (std::nothrow) refused{gone};
  if (kept == nullptr) return code;
  push(kept);
  return CUDA_SUCCESS;
}

void destroy_refused() noexcept {
  if (first_refused.load(std::memory_order_relaxed) == nullptr) return;
  refused* each = first_refused.exchange(nullptr, std::memory_order_acquire);
  while (each != nullptr) {
    refused* const next = each->next;
    const bool is_ours = each->generation == fork_generation.load(std::memory_order_relaxed);
    if (is_ours && destroy_now(*each) == CUDA_ERROR_NOT_PERMITTED) {
      push(each);
    } else {
      delete each;
    }
    each = next;
  }
}

refused made_here(CUgraph graph, CUgraphExec executable) noexcept {
  return {graph, executable, fork_generation.load(std::memory_order_relaxed), nullptr};
}

}  // namespace

CUresult graph_traits::destroy(CUgraph raw, const graph_facts&) noexcept {
  destroy_refused();
  return destroy_or_keep(made_here(raw, nullptr));
}

CUresult graph_exec_traits::destroy(CUgraphExec raw, const graph_facts&) noexcept {
  destroy_refused();
  return destroy_or_keep(made_here(nullptr, raw));
}

graph_handle create_graph() {
  destroy_refused();
  return graph_handle::own(
      {}, {}, [](CUgraph* raw) { driver::call(driver::table->cuGraphCreate, raw, 0u); });
}

graph_handle own_graph(CUgraph raw) {
  return graph_handle::own({}, {}, [raw](CUgraph* made) noexcept { *made = raw; });
}

graph_exec_handle instantiate(graph_lock& lock, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS& how) {
  return graph_exec_handle::own(
      context_instance{current_context()}, {}, [graph, &lock, &how](CUgraphExec* raw) {
        const std::lock_guard guard{lock};
        require_usable(lock,
                       reinterpret_cast<const void*>(driver::table->cuGraphInstantiateWithParams));
        const gil_release_if_held released;
        driver::call(driver::table->cuGraphInstantiateWithParams, raw, graph, &how);
      });
}

CUresult find_capture(const stream_ref& stream, capture_info& found) noexcept {
  return driver::try_call(driver::table->cuStreamGetCaptureInfo, stream.raw(), &found.status,
                          &found.id, &found.graph, &found.last, &found.edges, &found.count);
}

CUresult continue_after(const stream_ref& stream, CUgraphNode node) noexcept {
  return driver::try_call(driver::table->cuStreamUpdateCaptureDependencies, stream.raw(), &node,
                          nullptr, std::size_t{1},
                          static_cast<unsigned>(CU_STREAM_SET_CAPTURE_DEPENDENCIES));
}

CUuserObject retain_in_graph(graph_lock* lock, CUgraph graph, void* object, CUhostFn release) {
  CUuserObject made = nullptr;
  const CUresult code =
      driver::try_call(driver::table->cuUserObjectCreate, &made, object, release, 1u,
                       static_cast<unsigned>(CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  if (code != CUDA_SUCCESS) {
    release(object);
    driver::fail(code, reinterpret_cast<const void*>(driver::table->cuUserObjectCreate));
  }
  try {
    const auto guard = lock != nullptr ? std::unique_lock{*lock} : std::unique_lock<graph_lock>{};
    driver::call(driver::table->cuGraphRetainUserObject, graph, made, 1u,
                 static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE));
  } catch (const driver::driver_error&) {
    static_cast<void>(driver::try_call(driver::table->cuUserObjectRelease, made, 1u));
    throw;
  }
  return made;
}

CUresult update_executable(graph_lock& lock, graph_lock& source_lock, CUgraphExec updated,
                           CUgraph source, CUgraphExecUpdateResultInfo& result) noexcept {
  const std::lock_guard guard{lock};
  const std::lock_guard source_guard{source_lock};
  if (const CUresult refused = lock.refusal()) return refused;
  const gil_release_if_held released;
  return driver::try_call(driver::table->cuGraphExecUpdate, updated, source, &result);
}

void abandon_capture(const stream_ref& stream) noexcept {
  if (!stream.is_of_this_process()) return;
  const gil_release_if_held released;
  capture_info found;
  if (find_capture(stream, found) != CUDA_SUCCESS ||
      found.status == CU_STREAM_CAPTURE_STATUS_NONE) {
    return;
  }
  CUgraph graph = nullptr;
  const CUresult code = driver::try_call(driver::table->cuStreamEndCapture, stream.raw(), &graph);
  if (graph != nullptr) {
    static_cast<void>(driver::try_call(driver::table->cuGraphDestroy, graph));
  } else if (code == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) {
    report_failed_destroy("cuStreamEndCapture", code);
  }
}

void leave_capture(const stream_ref& stream) noexcept {
  if (!stream.is_of_this_process()) return;
  const gil_release_if_held released;
  capture_info found;
  CUgraph graph = nullptr;
  if (find_capture(stream, found) != CUDA_SUCCESS ||
      found.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    return;
  }
  const CUresult code = driver::try_call(driver::table->cuStreamEndCapture, stream.raw(), &graph);
  if (code != CUDA_SUCCESS) report_failed_destroy("cuStreamEndCapture", code);
}

}  // namespace halfwarp::core
