// SPDX-License-Identifier: Apache-2.0
// Graphs and executable graphs: reference-counted, and never destroyed in a child process.
#include "core/graph/graph.hpp"

#include <atomic>
#include <new>

namespace halfwarp::core {
namespace {

// A graph released inside a callback of another graph, where the driver permits no calls. The next
// creation or destruction of a graph on another thread destroys it.
struct deferred_destroy {
  CUgraph graph;
  CUgraphExec executable;
  std::uint32_t generation;
  deferred_destroy* next;
};
constinit std::atomic<deferred_destroy*> first_deferred{nullptr};

CUresult destroy_now(const deferred_destroy& object) noexcept {
  if (object.graph != nullptr) return driver::try_call(driver::table->cuGraphDestroy, object.graph);
  return driver::try_call(driver::table->cuGraphExecDestroy, object.executable);
}

void push(deferred_destroy* node) noexcept {
  node->next = first_deferred.load(std::memory_order_relaxed);
  while (!first_deferred.compare_exchange_weak(node->next, node, std::memory_order_release,
                                               std::memory_order_relaxed)) {
  }
}

CUresult destroy_or_defer(const deferred_destroy& object) noexcept {
  const CUresult code = destroy_now(object);
  if (code != CUDA_ERROR_NOT_PERMITTED) return code;
  auto* const deferred = new (std::nothrow) deferred_destroy{object};
  if (deferred == nullptr) return code;
  push(deferred);
  return CUDA_SUCCESS;
}

void destroy_deferred() noexcept {
  if (first_deferred.load(std::memory_order_relaxed) == nullptr) return;
  deferred_destroy* each = first_deferred.exchange(nullptr, std::memory_order_acquire);
  while (each != nullptr) {
    deferred_destroy* const next = each->next;
    const bool is_ours = each->generation == fork_generation.load(std::memory_order_relaxed);
    if (is_ours && destroy_now(*each) == CUDA_ERROR_NOT_PERMITTED) {
      push(each);
    } else {
      delete each;
    }
    each = next;
  }
}

deferred_destroy in_this_process(CUgraph graph, CUgraphExec executable) noexcept {
  return {graph, executable, fork_generation.load(std::memory_order_relaxed), nullptr};
}

}  // namespace

CUresult graph_traits::destroy(CUgraph raw, const graph_facts&) noexcept {
  destroy_deferred();
  return destroy_or_defer(in_this_process(raw, nullptr));
}

CUresult graph_exec_traits::destroy(CUgraphExec raw, const graph_facts&) noexcept {
  destroy_deferred();
  return destroy_or_defer(in_this_process(nullptr, raw));
}

graph_handle create_graph() {
  destroy_deferred();
  return graph_handle::own(
      {}, {}, [](CUgraph* raw) { driver::call(driver::table->cuGraphCreate, raw, 0u); });
}

graph_handle own_graph(CUgraph raw) {
  return graph_handle::own({}, {}, [raw](CUgraph* result) noexcept { *result = raw; });
}

graph_exec_handle instantiate(graph_lock& lock, CUgraph graph,
                              CUDA_GRAPH_INSTANTIATE_PARAMS& params) {
  return graph_exec_handle::own(
      context_instance{current_context()}, {}, [graph, &lock, &params](CUgraphExec* raw) {
        const std::lock_guard guard{lock};
        require_usable(lock,
                       reinterpret_cast<const void*>(driver::table->cuGraphInstantiateWithParams));
        const gil_release_if_held released;
        driver::call(driver::table->cuGraphInstantiateWithParams, raw, graph, &params);
      });
}

CUresult find_capture(const stream_ref& stream, capture_info& info) noexcept {
  return driver::try_call(driver::table->cuStreamGetCaptureInfo, stream.raw(), &info.status,
                          &info.id, &info.graph, &info.last, &info.edges, &info.count);
}

CUresult continue_after(const stream_ref& stream, CUgraphNode node) noexcept {
  return driver::try_call(driver::table->cuStreamUpdateCaptureDependencies, stream.raw(), &node,
                          nullptr, std::size_t{1},
                          static_cast<unsigned>(CU_STREAM_SET_CAPTURE_DEPENDENCIES));
}

CUuserObject retain_in_graph(graph_lock* lock, CUgraph graph, void* object, CUhostFn release) {
  CUuserObject user_object = nullptr;
  const CUresult code =
      driver::try_call(driver::table->cuUserObjectCreate, &user_object, object, release, 1u,
                       static_cast<unsigned>(CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  if (code != CUDA_SUCCESS) {
    release(object);
    driver::fail(code, reinterpret_cast<const void*>(driver::table->cuUserObjectCreate));
  }
  try {
    const auto guard = lock != nullptr ? std::unique_lock{*lock} : std::unique_lock<graph_lock>{};
    driver::call(driver::table->cuGraphRetainUserObject, graph, user_object, 1u,
                 static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE));
  } catch (const driver::driver_error&) {
    static_cast<void>(driver::try_call(driver::table->cuUserObjectRelease, user_object, 1u));
    throw;
  }
  return user_object;
}

CUresult launch_executable(graph_lock& lock, CUgraphExec launched, CUstream stream) noexcept {
  const gil_release_if_held released;
  return try_call_alone(lock, driver::table->cuGraphLaunch, launched, stream);
}

CUresult update_executable(graph_lock& lock, graph_lock& source_lock, CUgraphExec updated,
                           CUgraph source, CUgraphExecUpdateResultInfo& result) noexcept {
  const std::lock_guard guard{lock};
  const std::lock_guard source_guard{source_lock};
  if (const CUresult code = lock.refusal()) return code;
  const gil_release_if_held released;
  return driver::try_call(driver::table->cuGraphExecUpdate, updated, source, &result);
}

void abandon_capture(const stream_ref& stream) noexcept {
  if (!stream.is_of_this_process()) return;
  const gil_release_if_held released;
  capture_info info;
  if (find_capture(stream, info) != CUDA_SUCCESS || info.status == CU_STREAM_CAPTURE_STATUS_NONE) {
    return;
  }
  CUgraph graph = nullptr;
  const CUresult code = driver::try_call(driver::table->cuStreamEndCapture, stream.raw(), &graph);
  if (graph != nullptr) {
    static_cast<void>(driver::try_call(driver::table->cuGraphDestroy, graph));
  } else if (code == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) {
    report_failed_destroy("cuStreamEndCapture", reinterpret_cast<std::uintptr_t>(stream.raw()),
                          code);
  }
}

void leave_capture(const stream_ref& stream) noexcept {
  if (!stream.is_of_this_process()) return;
  const gil_release_if_held released;
  capture_info info;
  CUgraph graph = nullptr;
  if (find_capture(stream, info) != CUDA_SUCCESS ||
      info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    return;
  }
  const CUresult code = driver::try_call(driver::table->cuStreamEndCapture, stream.raw(), &graph);
  if (code != CUDA_SUCCESS) {
    report_failed_destroy("cuStreamEndCapture", reinterpret_cast<std::uintptr_t>(stream.raw()),
                          code);
  }
}

}  // namespace halfwarp::core
