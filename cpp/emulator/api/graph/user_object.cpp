// SPDX-License-Identifier: Apache-2.0
// User objects, and the references of the program and of graphs.
#include "emulator/graph/user_object.hpp"

#include <climits>

#include "emulator/api/graph/graph_call.hpp"

namespace halfwarp::emulator::api {
namespace {

void require_count(unsigned count) {
  require(count > 0 && count <= INT_MAX, CUDA_ERROR_INVALID_VALUE,
          "a reference count must be 1 to INT_MAX");
}

std::shared_ptr<user_object> object_of(const call& c, CUuserObject raw) {
  return c.find<user_object>(raw, CUDA_ERROR_INVALID_VALUE);
}

// For calls that release or move a reference of the caller.
std::shared_ptr<user_object> counted_object(const call& c, CUuserObject raw) {
  return c.find_counted<user_object>(raw, CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

CUresult cuUserObjectCreate(CUuserObject* object_out, void* ptr, CUhostFn destroy,
                            unsigned int initialRefcount, unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(object_out);
    require(destroy != nullptr, CUDA_ERROR_INVALID_VALUE, "the destructor is null");
    require(flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, CUDA_ERROR_INVALID_VALUE,
            "the flags must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC");
    require_count(initialRefcount);
    *object_out =
        c.d.objects.make<user_object>(ptr, destroy, initialRefcount)->handle_as<CUuserObject>();
  });
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) noexcept {
  return run_locked([&](call& c) {
    require_count(count);
    object_of(c, object)->retain(count);
  });
}

// A GPU driver has undefined behavior if more references are released than the program owns.
CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) noexcept {
  return run_locked([&](call& c) {
    require_count(count);
    const auto released = counted_object(c, object);
    require(count <= released->by_program(), CUDA_ERROR_INVALID_VALUE,
            "the program holds fewer references to the object");
    released->release(count);
  });
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                                 unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require_count(count);
    require(flags == 0 || flags == CU_GRAPH_USER_OBJECT_MOVE, CUDA_ERROR_INVALID_VALUE,
            "the flags are 0 or CU_GRAPH_USER_OBJECT_MOVE");
    const auto owner = graph_of(c, graph);
    const auto retained =
        flags == CU_GRAPH_USER_OBJECT_MOVE ? counted_object(c, object) : object_of(c, object);
    if (flags == CU_GRAPH_USER_OBJECT_MOVE) {
      require(count <= retained->by_program(), CUDA_ERROR_INVALID_VALUE,
              "the program holds fewer references to the object");
      retained->move_to_graph(count);
    } else {
      retained->retain_for_graph(count);
    }
    owner->references.add(retained, count);
  });
}

// A GPU driver accepts a count above the references of the graph.
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) noexcept {
  return run_locked([&](call& c) {
    require_count(count);
    const auto owner = graph_of(c, graph);
    require(owner->references.remove(*counted_object(c, object), count), CUDA_ERROR_INVALID_VALUE,
            "the graph holds fewer references to the object");
  });
}

}  // namespace halfwarp::emulator::api
