// SPDX-License-Identifier: Apache-2.0
// Adds nodes of each type.
#include "emulator/api/graph/graph_call.hpp"
#include "emulator/object/current_call.hpp"

namespace halfwarp::emulator::api {
namespace {

struct new_node {
  CUgraphNode* out;
  CUgraph graph;
  const CUgraphNode* dependencies;
  const CUgraphEdgeData* data;
  std::size_t count;
};

// Adds a node. `create_work` returns its work; called after the checks of the dependencies.
CUresult add(const new_node& request, const void* params, const auto& create_work) {
  return run_locked([&](call& c) {
    require_outputs(request.out, params);
    const auto target = graph_of(c, request.graph);
    const auto dependencies = nodes_of(c, request.dependencies, request.count);
    target->require_dependencies(dependencies);
    const auto data = data_of(request.data, request.count);
    auto work = create_work(c, *target);
    for (std::size_t i = 0; i < data.size(); ++i) check_edge(*dependencies[i], work.type, data[i]);
    auto& node = target->add(c.d, std::move(work), dependencies, data);
    node.created_at = call_site();
    *request.out = node.template handle_as<CUgraphNode>();
  });
}

}  // namespace

CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                           const CUgraphNode* dependencies, const CUgraphEdgeData* dependencyData,
                           size_t numDependencies, CUgraphNodeParams* nodeParams) noexcept {
  return add({phGraphNode, hGraph, dependencies, dependencyData, numDependencies}, nodeParams,
             [&](call& c, graph& target) { return work_of(c, target, *nodeParams); });
}

CUresult cuGraphAddNode_v3(CUgraphNode* phGraphNode, CUgraph hGraph,
                           const CUgraphNode* dependencies, const CUgraphEdgeData* dependencyData,
                           size_t numDependencies, CUgraphNodeParams* nodeParams) noexcept {
  return add({phGraphNode, hGraph, dependencies, dependencyData, numDependencies}, nodeParams,
             [&](call& c, graph& target) { return work_of(c, target, *nodeParams, true); });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 const CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return add({phGraphNode, hGraph, dependencies, nullptr, numDependencies}, nodeParams,
             [&](call& c, graph&) { return kernel_work(c, newer(*nodeParams), {}); });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMCPY3D* copyParams, CUcontext ctx) noexcept {
  return add({phGraphNode, hGraph, dependencies, nullptr, numDependencies}, copyParams,
             [&](call& c, graph&) { return copy_work(c, *copyParams, ctx); });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) noexcept {
  return add({phGraphNode, hGraph, dependencies, nullptr, numDependencies}, memsetParams,
             [&](call& c, graph&) { return fill_work(c, *memsetParams, ctx); });
}

CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                            const CUgraphNode* dependencies, size_t numDependencies,
                            const CUDA_HOST_NODE_PARAMS* nodeParams) noexcept {
  return add({phGraphNode, hGraph, dependencies, nullptr, numDependencies}, nodeParams,
             [&](call&, graph&) { return host_work(nodeParams->fn, nodeParams->userData); });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                             const CUgraphNode* dependencies, size_t numDependencies) noexcept {
  return add({phGraphNode, hGraph, dependencies, nullptr, numDependencies}, phGraphNode,
             [](call&, graph&) { return node_work{}; });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                  const CUgraphNode* dependencies, size_t numDependencies,
                                  CUgraph childGraph) noexcept {
  const CUDA_CHILD_GRAPH_NODE_PARAMS params{childGraph, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE};
  return add({phGraphNode, hGraph, dependencies, nullptr, numDependencies}, phGraphNode,
             [&](call& c, graph& target) { return child_work(c, params, target); });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                   const CUgraphNode* dependencies, size_t numDependencies,
                                   CUevent event) noexcept {
  constexpr auto type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  return add({phGraphNode, hGraph, dependencies, nullptr, numDependencies}, phGraphNode,
             [&](call& c, graph&) { return event_work(c, type, event); });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 CUevent event) noexcept {
  constexpr auto type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  return add({phGraphNode, hGraph, dependencies, nullptr, numDependencies}, phGraphNode,
             [&](call& c, graph&) { return event_work(c, type, event); });
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                const CUgraphNode* dependencies, size_t numDependencies,
                                CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) noexcept {
  return add({phGraphNode, hGraph, dependencies, nullptr, numDependencies}, nodeParams,
             [&](call& c, graph& target) {
               CUDA_MEM_ALLOC_NODE_PARAMS_v2 params{nodeParams->poolProps, nodeParams->accessDescs,
                                                    nodeParams->accessDescCount,
                                                    nodeParams->bytesize, 0};
               auto work = allocation_work(c, target, params);
               nodeParams->dptr = params.dptr;
               return work;
             });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                               const CUgraphNode* dependencies, size_t numDependencies,
                               CUdeviceptr dptr) noexcept {
  return add({phGraphNode, hGraph, dependencies, nullptr, numDependencies}, phGraphNode,
             [&](call& c, graph& target) { return free_work(c, target, dptr); });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* pHandle_out, CUgraph hGraph,
                                        CUcontext ctx, unsigned int defaultLaunchValue,
                                        unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pHandle_out);
    require(flags == 0 || flags == CU_GRAPH_COND_ASSIGN_DEFAULT, CUDA_ERROR_INVALID_VALUE,
            "the flags are 0 or CU_GRAPH_COND_ASSIGN_DEFAULT");
    const auto target = graph_of(c, hGraph);
    const auto launch_value = flags ? std::optional{defaultLaunchValue} : std::nullopt;
    auto handle = c.d.objects.make<conditional>(context_or_current(c, ctx)->id(), launch_value);
    handle->is_library_owned = true;  // destroyed with its graph
    *pHandle_out = handle->handle_as<CUgraphConditionalHandle>();
    target->conditions.push_back(std::make_shared<conditional_lease>(c.d, std::move(handle)));
  });
}

}  // namespace halfwarp::emulator::api
