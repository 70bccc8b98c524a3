// SPDX-License-Identifier: Apache-2.0
// Executable graphs: instantiating, launching, updating, destroying.
#include "emulator/graph/graph_exec.hpp"

#include "emulator/api/graph/graph_call.hpp"
#include "emulator/graph/graph_exec.hpp"
#include "emulator/object/current_call.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr unsigned long long known_flags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

void require_flags(unsigned long long flags) {
  constexpr unsigned long long apart =
      CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  require((flags & ~known_flags) == 0, CUDA_ERROR_INVALID_VALUE,
          "these are no flags of an instantiation");
  require((flags & apart) != apart, CUDA_ERROR_INVALID_VALUE,
          "a graph that kernels launch frees nothing by itself");
}

void upload(call& c, graph_exec& what, stream& in) {
  require_not_capturing(c.d, in);
  what.map_memory(c.d);
}

std::shared_ptr<graph_exec> instantiate(call& c, graph& from, unsigned long long flags) {
  auto made = c.d.objects.make<graph_exec>(c.d, clone(c.d, from), flags);
  made->created_at = call_site();
  const bool is_only = from.allocates() || from.has_nodes_of(CU_GRAPH_NODE_TYPE_CONDITIONAL);
  if (is_only) from.executable = made;
  return made;
}

}  // namespace

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph,
                                     unsigned long long flags) noexcept {
  return answer([&](call& c) {
    require_outputs(phGraphExec);
    require_flags(flags);
    require(!(flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD), CUDA_ERROR_INVALID_VALUE,
            "an upload needs the stream that cuGraphInstantiateWithParams takes");
    const auto from = graph_of(c, hGraph);
    const auto problem = check_instantiation(*from, flags);
    require(problem.code == CUDA_SUCCESS, problem.code, problem.text);
    *phGraphExec = instantiate(c, *from, flags)->handle_as<CUgraphExec>();
  });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) noexcept {
  return answer([&](call& c) {
    require_outputs(phGraphExec, instantiateParams);
    auto& told = *instantiateParams;
    told.hErrNode_out = nullptr;
    told.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    require_flags(told.flags);
    const auto from = graph_of(c, hGraph);
    const bool uploads = told.flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    const auto in = uploads ? c.stream_of(told.hUploadStream) : nullptr;
    const auto problem = check_instantiation(*from, told.flags);
    told.result_out = problem.result;
    if (problem.node) told.hErrNode_out = problem.node->handle_as<CUgraphNode>();
    require(problem.code == CUDA_SUCCESS, problem.code, problem.text);
    const auto made = instantiate(c, *from, told.flags);
    if (in) upload(c, *made, *in);
    *phGraphExec = made->handle_as<CUgraphExec>();
  });
}

// On a device it moves what a launch needs; here it takes the memory that the graph allocates.
CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) noexcept {
  return answer([&](call& c) { upload(c, *exec_of(c, hGraphExec), *c.stream_of(hStream)); });
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) noexcept {
  return answer([&](call& c) {
    const auto what = exec_of(c, hGraphExec);
    const auto in = c.stream_of(hStream);
    if (auto* const state = capture_of(*in)) {
      refuse_and_invalidate(
          *state->of, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "a launch of a graph cannot be captured; add the graph as a child graph node");
    }
    require_no_implicit_wait(c.d, *in);
    what->launch(c.d, c.guard, *in, call_site());
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
    // An upload is done once and for all.
    *flags = exec_of(c, hGraphExec)->flags() & ~CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  });
}

CUresult cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int* graphId) noexcept {
  return answer([&](call& c) {
    require_outputs(graphId);
    *graphId = static_cast<unsigned>(exec_of(c, hGraphExec)->source()->id());
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                              CUgraphExecUpdateResultInfo* resultInfo) noexcept {
  return answer([&](call& c) {
    require_outputs(resultInfo);
    *resultInfo = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
    const auto changed = exec_of(c, hGraphExec);
    const auto from = graph_of(c, hGraph);
    require(!from->was_moved, CUDA_ERROR_INVALID_VALUE, "the graph belongs to a node");
    const auto outcome = update(*changed, *from);
    const auto raw = [](const graph_node* node) {
      return node ? node->handle_as<CUgraphNode>() : nullptr;
    };
    *resultInfo = {outcome.result, raw(outcome.node), raw(outcome.from)};
    require(outcome.result == CU_GRAPH_EXEC_UPDATE_SUCCESS, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
            "the two graphs differ in what an executable cannot change");
  });
}

}  // namespace halfwarp::emulator::api
