// SPDX-License-Identifier: Apache-2.0
// Instantiates, launches, updates and destroys executable graphs.
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
  constexpr unsigned long long exclusive_flags =
      CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  require((flags & ~known_flags) == 0, CUDA_ERROR_INVALID_VALUE,
          "the flags are invalid for an instantiation");
  require((flags & exclusive_flags) != exclusive_flags, CUDA_ERROR_INVALID_VALUE,
          "a graph for device launch cannot free memory automatically");
}

void upload(call& c, graph_exec& exec, stream& target) {
  require_not_capturing(c.d, target);
  exec.map_memory(c.d);
}

std::shared_ptr<graph_exec> instantiate(call& c, graph& from, unsigned long long flags) {
  auto exec = c.d.objects.make<graph_exec>(c.d, clone(c.d, from), flags);
  exec->created_at = call_site();
  const bool is_only = from.allocates() || from.has_nodes_of(CU_GRAPH_NODE_TYPE_CONDITIONAL);
  if (is_only) from.executable = exec;
  return exec;
}

}  // namespace

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph,
                                     unsigned long long flags) noexcept {
  return run_locked([&](call& c) {
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
  return run_locked([&](call& c) {
    require_outputs(phGraphExec, instantiateParams);
    auto& params = *instantiateParams;
    params.hErrNode_out = nullptr;
    params.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    require_flags(params.flags);
    const auto from = graph_of(c, hGraph);
    const bool uploads = params.flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    const auto upload_stream = uploads ? c.stream_of(params.hUploadStream) : nullptr;
    const auto problem = check_instantiation(*from, params.flags);
    params.result_out = problem.result;
    if (problem.node) params.hErrNode_out = problem.node->handle_as<CUgraphNode>();
    require(problem.code == CUDA_SUCCESS, problem.code, problem.text);
    const auto exec = instantiate(c, *from, params.flags);
    if (upload_stream) upload(c, *exec, *upload_stream);
    *phGraphExec = exec->handle_as<CUgraphExec>();
  });
}

// Maps the memory that the graph allocates; a device also uploads the nodes.
CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) noexcept {
  return run_locked([&](call& c) { upload(c, *exec_of(c, hGraphExec), *c.stream_of(hStream)); });
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    const auto exec = exec_of(c, hGraphExec);
    const auto target = c.stream_of(hStream);
    if (auto* const state = capture_of(*target)) {
      refuse_and_invalidate(
          *state->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "a launch of a graph cannot be captured; add the graph as a child graph node");
    }
    require_no_implicit_wait(c.d, *target);
    exec->launch(c.d, c.guard, *target, call_site());
  });
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) noexcept {
  return run_locked([&](call& c) {
    const auto exec = exec_of(c, hGraphExec);
    exec->close(c.d);
    c.d.objects.remove(*exec);
  });
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(flags);
    // The driver does not report the upload flag.
    *flags = exec_of(c, hGraphExec)->flags() & ~CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  });
}

CUresult cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int* graphId) noexcept {
  return run_locked([&](call& c) {
    require_outputs(graphId);
    *graphId = static_cast<unsigned>(exec_of(c, hGraphExec)->source()->id());
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                              CUgraphExecUpdateResultInfo* resultInfo) noexcept {
  return run_locked([&](call& c) {
    require_outputs(resultInfo);
    *resultInfo = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
    const auto exec = exec_of(c, hGraphExec);
    const auto from = graph_of(c, hGraph);
    require(!from->was_moved, CUDA_ERROR_INVALID_VALUE, "the graph belongs to a node");
    const auto outcome = update(*exec, *from);
    const auto raw = [](const graph_node* node) {
      return node ? node->handle_as<CUgraphNode>() : nullptr;
    };
    *resultInfo = {outcome.result, raw(outcome.node), raw(outcome.from)};
    require(outcome.result == CU_GRAPH_EXEC_UPDATE_SUCCESS, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
            "the graphs differ in a way that an executable graph cannot adopt");
  });
}

}  // namespace halfwarp::emulator::api
