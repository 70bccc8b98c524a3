// SPDX-License-Identifier: Apache-2.0
// What a copy from or to an array of somebody else needs to know while its stream works or records.
#include "core/memory/copied_arrays.hpp"

namespace halfwarp::core {

void hold_in_captured_graph(const stream_ref& stream, void* object, CUhostFn release) noexcept {
  CUstreamCaptureStatus status{};
  CUgraph graph = nullptr;
  if (driver::try_call(driver::table->cuStreamGetCaptureInfo, stream.raw(), &status, nullptr,
                       &graph, nullptr, nullptr, nullptr) != CUDA_SUCCESS ||
      graph == nullptr) {
    return;
  }
  CUuserObject owner = nullptr;
  if (driver::try_call(driver::table->cuUserObjectCreate, &owner, object, release, 1u,
                       CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) == CUDA_SUCCESS) {
    static_cast<void>(driver::try_call(driver::table->cuGraphRetainUserObject, graph, owner, 1u,
                                       CU_GRAPH_USER_OBJECT_MOVE));
  }
}

}  // namespace halfwarp::core
