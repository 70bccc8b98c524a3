// SPDX-License-Identifier: Apache-2.0
// Executable graphs: instantiating, launching, destroying.
#include "emulator/graph/graph_exec.hpp"

#include "emulator/api/graph/graph_call.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr unsigned long long known_flags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                           CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                           CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

std::shared_ptr<graph_exec> exec_of(const call& c, CUgraphExec raw) {
  return c.find<graph_exec>(raw, CUDA_ERROR_INVALID_VALUE);
}

void instantiate(call& c, CUgraphExec* out, CUgraph raw, unsigned long long flags) {
  require_outputs(out);
  require(!(flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH), CUDA_ERROR_NOT_SUPPORTED,
          "the emulator launches no graphs from kernels");
  require((flags & ~known_flags) == 0, CUDA_ERROR_INVALID_VALUE,
          "these are no flags of an instantiation");
  const auto from = graph_of(c, raw);
  static_cast<void>(from->in_order());  // refuses cycles before anything is made
  *out = c.d.objects.make<graph_exec>(c.d, clone(c.d, *from), flags)->handle_as<CUgraphExec>();
}

}  // namespace

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph,
                                     unsigned long long flags) noexcept {
  return answer([&](call& c) { instantiate(c, phGraphExec, hGraph, flags); });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) noexcept {
  return answer([&](call& c) {
    require_outputs(instantiateParams);
    instantiateParams->hErrNode_out = nullptr;
    instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    instantiate(c, phGraphExec, hGraph, instantiateParams->flags);
    instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  });
}

// On a device it moves what a launch needs; here nothing has to be moved.
CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) noexcept {
  return answer([&](call& c) {
    exec_of(c, hGraphExec);
    const auto in = c.stream_of(hStream);
    require_not_capturing(c.d, *in);
  });
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) noexcept {
  return answer([&](call& c) {
    const auto what = exec_of(c, hGraphExec);
    const auto in = c.stream_of(hStream);
    if (capture_of(*in)) {
      auto child = clone(c.d, *what->source());
      child->is_child = child->is_library_owned = true;
      add_captured(c.d, *in, {CU_GRAPH_NODE_TYPE_GRAPH, {}, {}, {}, std::move(child), {}});
      return;
    }
    require_no_implicit_wait(c.d, *in);
    what->launch(c.d, c.guard, *in);
  });
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) noexcept {
  return answer([&](call& c) {
    const auto gone = exec_of(c, hGraphExec);
    gone->close(c.d);
    c.d.objects.remove(*gone);
  });
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) noexcept {
  return answer([&](call& c) {
    require_outputs(flags);
    *flags = exec_of(c, hGraphExec)->flags();
  });
}

CUresult cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int* graphId) noexcept {
  return answer([&](call& c) {
    require_outputs(graphId);
    *graphId = static_cast<unsigned>(exec_of(c, hGraphExec)->id());
  });
}

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                  CUgraphNodeParams* nodeParams) noexcept {
  return answer([&](call& c) {
    require_outputs(nodeParams);
    auto* const changed = exec_of(c, hGraphExec)->twin_of(*node_of(c, hNode));
    require(changed && changed->work.type == nodeParams->type, CUDA_ERROR_INVALID_VALUE,
            "the node is of another kind, or not of the graph that was instantiated");
    require(nodeParams->type != CU_GRAPH_NODE_TYPE_GRAPH, CUDA_ERROR_NOT_SUPPORTED,
            "the emulator exchanges no child graphs of an executable graph yet");
    changed->work = work_of(c, *nodeParams);
  });
}

}  // namespace halfwarp::emulator::api
