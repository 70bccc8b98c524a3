// SPDX-License-Identifier: Apache-2.0
// Adding nodes of each kind.
#include "emulator/api/graph/graph_call.hpp"
#include "emulator/object/current_call.hpp"

namespace halfwarp::emulator::api {
namespace {

struct new_node {
  CUgraphNode* out;
  CUgraph in;
  const CUgraphNode* dependencies;
  const CUgraphEdgeData* data;
  std::size_t count;
};

// `make`: the work of the node, once nothing else can be refused.
CUresult add(const new_node& wanted, const void* given, const auto& make) {
  return answer([&](call& c) {
    require_outputs(wanted.out, given);
    const auto in = graph_of(c, wanted.in);
    const auto after = nodes_of(c, wanted.dependencies, wanted.count);
    in->require_dependencies(after);
    const auto data = data_of(wanted.data, wanted.count);
    auto work = make(c, *in);
    for (std::size_t i = 0; i < data.size(); ++i) check_edge(*after[i], work.type, data[i]);
    auto& made = in->add(c.d, std::move(work), after, data);
    made.created_at = call_site();
    *wanted.out = made.template handle_as<CUgraphNode>();
  });
}

}  // namespace

CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                           const CUgraphNode* dependencies, const CUgraphEdgeData* dependencyData,
                           size_t numDependencies, CUgraphNodeParams* nodeParams) noexcept {
  return add({phGraphNode, hGraph, dependencies, dependencyData, numDependencies}, nodeParams,
             [&](call& c, graph& in) { return work_of(c, in, *nodeParams); });
}

CUresult cuGraphAddNode_v3(CUgraphNode* phGraphNode, CUgraph hGraph,
                           const CUgraphNode* dependencies, const CUgraphEdgeData* dependencyData,
                           size_t numDependencies, CUgraphNodeParams* nodeParams) noexcept {
  return add({phGraphNode, hGraph, dependencies, dependencyData, numDependencies}, nodeParams,
             [&](call& c, graph& in) { return work_of(c, in, *nodeParams, true); });
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
  const CUDA_CHILD_GRAPH_NODE_PARAMS given{childGraph, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE};
  return add({phGraphNode, hGraph, dependencies, nullptr, numDependencies}, phGraphNode,
             [&](call& c, graph& in) { return child_work(c, given, in); });
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
             [&](call& c, graph& in) {
               CUDA_MEM_ALLOC_NODE_PARAMS_v2 same{nodeParams->poolProps, nodeParams->accessDescs,
                                                  nodeParams->accessDescCount, nodeParams->bytesize,
                                                  0};
               auto made = allocation_work(c, in, same);
               nodeParams->dptr = same.dptr;
               return made;
             });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                               const CUgraphNode* dependencies, size_t numDependencies,
                               CUdeviceptr dptr) noexcept {
  return add({phGraphNode, hGraph, dependencies, nullptr, numDependencies}, phGraphNode,
             [&](call& c, graph& in) { return free_work(c, in, dptr); });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* pHandle_out, CUgraph hGraph,
                                        CUcontext ctx, unsigned int defaultLaunchValue,
                                        unsigned int flags) noexcept {
  return answer([&](call& c) {
    require_outputs(pHandle_out);
    require(flags == 0 || flags == CU_GRAPH_COND_ASSIGN_DEFAULT, CUDA_ERROR_INVALID_VALUE,
            "the flags are 0 or CU_GRAPH_COND_ASSIGN_DEFAULT");
    const auto in = graph_of(c, hGraph);
    const auto at_launch = flags ? std::optional{defaultLaunchValue} : std::nullopt;
    auto made = c.d.objects.make<conditional>(place_of(c, ctx)->id(), at_launch);
    made->is_library_owned = true;  // goes with its graph
    *pHandle_out = made->handle_as<CUgraphConditionalHandle>();
    in->conditions.push_back(std::make_shared<conditional_lease>(c.d, std::move(made)));
  });
}

}  // namespace halfwarp::emulator::api
