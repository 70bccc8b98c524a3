// SPDX-License-Identifier: Apache-2.0
// Graphs and their executables: counted, destroyed once, never in the child of a fork.
#include "core/graph/graph.hpp"

namespace halfwarp::core {

graph_handle create_graph() {
  return graph_handle::own({}, {}, [](CUgraph* raw) {
    driver::call(driver::table->cuGraphCreate, raw, 0u);
  });
}

graph_handle own_graph(CUgraph raw) {
  return graph_handle::own({}, {}, [raw](CUgraph* made) noexcept { *made = raw; });
}

graph_exec_handle instantiate(CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS& how) {
  return graph_exec_handle::own(current_context(), {}, [graph, &how](CUgraphExec* raw) {
    const unlocked_scope unlocked;
    driver::call(driver::table->cuGraphInstantiateWithParams, raw, graph, &how);
  });
}

CUresult find_capture(const stream_ref& stream, capture_info& found) noexcept {
  return driver::try_call(driver::table->cuStreamGetCaptureInfo, stream.raw(), &found.status,
                          nullptr, &found.graph, &found.last, &found.edges, &found.count);
}

CUresult continue_after(const stream_ref& stream, CUgraphNode node) noexcept {
  return driver::try_call(driver::table->cuStreamUpdateCaptureDependencies, stream.raw(), &node,
                          nullptr, std::size_t{1},
                          static_cast<unsigned>(CU_STREAM_SET_CAPTURE_DEPENDENCIES));
}

CUuserObject retain_in_graph(CUgraph graph, void* object, CUhostFn release) {
  CUuserObject made = nullptr;
  const CUresult code =
      driver::try_call(driver::table->cuUserObjectCreate, &made, object, release, 1u,
                       static_cast<unsigned>(CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  if (code != CUDA_SUCCESS) {
    release(object);
    driver::fail(code, reinterpret_cast<const void*>(driver::table->cuUserObjectCreate));
  }
  try {
    driver::call(driver::table->cuGraphRetainUserObject, graph, made, 1u,
                 static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE));
  } catch (const driver::driver_error&) {
    static_cast<void>(driver::try_call(driver::table->cuUserObjectRelease, made, 1u));
    throw;
  }
  return made;
}

void abandon_capture(const stream_ref& stream) noexcept {
  if (!stream.is_of_this_process()) return;
  const unlocked_scope unlocked;
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
  const unlocked_scope unlocked;
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
