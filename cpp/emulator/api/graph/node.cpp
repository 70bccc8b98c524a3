// SPDX-License-Identifier: Apache-2.0
// Nodes: adding each kind, and their parameters.
#include <cstring>

#include "emulator/api/code/code_call.hpp"
#include "emulator/api/code/launch_limits.hpp"
#include "emulator/api/graph/graph_call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator::api {
namespace {

std::shared_ptr<context> place_of(const call& c, CUcontext raw) {
  return raw ? c.context_of(raw) : c.current();
}

node_work kernel_work(call& c, const CUDA_KERNEL_NODE_PARAMS_v3& p) {
  require(p.func || p.kern, CUDA_ERROR_INVALID_VALUE, "the kernel of the node is null");
  const auto raw = p.func ? p.func : reinterpret_cast<CUfunction>(p.kern);
  const auto where = place_of(c, p.func ? nullptr : p.ctx);
  const auto what = function_of(c, raw, where);
  launch_shape shape;
  shape.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  shape.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  shape.dynamic_shared = p.sharedMemBytes;
  return {CU_GRAPH_NODE_TYPE_KERNEL,
          make_launch(c, *what, shape, 0, p.kernelParams, p.extra),
          where,
          {},
          {},
          {}};
}

node_work event_work(const call& c, CUgraphNodeType type, CUevent raw) {
  return {type, {}, {}, c.find<event>(raw), {}, {}};
}

node_work child_work(call& c, CUgraph raw) {
  auto child = clone(c.d, *graph_of(c, raw));
  child->is_child = child->is_library_owned = true;
  return {CU_GRAPH_NODE_TYPE_GRAPH, {}, {}, {}, std::move(child), {}};
}

CUresult add(CUgraphNode* out, CUgraph raw, const CUgraphNode* dependencies,
             const CUgraphEdgeData* data, std::size_t count, const void* given, const auto& make) {
  return answer([&](call& c) {
    require_outputs(out, given);
    const auto in = graph_of(c, raw);
    const auto after = nodes_of(c, dependencies, count);
    *out = in->add(c.d, make(c), after, data_of(data, count)).template handle_as<CUgraphNode>();
  });
}

// The parameters of a node of one kind; refuses a node of another.
template <class Parameters>
CUresult read(CUgraphNode raw, CUgraphNodeType type, Parameters* out, const auto& from) {
  return answer([&](call& c) {
    require_outputs(out);
    const auto asked = node_of(c, raw);
    require(asked->work.type == type, CUDA_ERROR_INVALID_VALUE, "the node is of another kind");
    *out = from(parameters_of(*asked));
  });
}

CUresult write(CUgraphNode raw, const void* given, CUgraphNodeType type, const auto& make) {
  return answer([&](call& c) {
    require_outputs(given);
    const auto changed = node_of(c, raw);
    require(changed->work.type == type, CUDA_ERROR_INVALID_VALUE, "the node is of another kind");
    changed->work = make(c);
  });
}

// The two forms of kernel parameters have the same members.
CUDA_KERNEL_NODE_PARAMS_v3 newer(const CUDA_KERNEL_NODE_PARAMS& p) {
  static_assert(sizeof(p) == sizeof(CUDA_KERNEL_NODE_PARAMS_v3));
  CUDA_KERNEL_NODE_PARAMS_v3 same;
  std::memcpy(&same, &p, sizeof same);
  return same;
}

node_work copy_work(call& c, const CUDA_MEMCPY3D& p, CUcontext raw) {
  const auto where = place_of(c, raw);
  return {CU_GRAPH_NODE_TYPE_MEMCPY, make_copy(c, p, where->on().ordinal()), where, {}, {}, {}};
}

node_work fill_work(call& c, const CUDA_MEMSET_NODE_PARAMS& p, CUcontext raw) {
  const auto where = place_of(c, raw);
  return {CU_GRAPH_NODE_TYPE_MEMSET, make_fill(c, p, where->on().ordinal()), where, {}, {}, {}};
}

node_work host_work(CUhostFn function, void* data) {
  require(function != nullptr, CUDA_ERROR_INVALID_VALUE, "the host function is null");
  return {CU_GRAPH_NODE_TYPE_HOST, std::make_shared<host_call>(function, data), {}, {}, {}, {}};
}

CUDA_MEMSET_NODE_PARAMS older(const CUDA_MEMSET_NODE_PARAMS_v2& p) {
  return {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
}

}  // namespace

node_work work_of(call& c, const CUgraphNodeParams& given) {
  switch (given.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return kernel_work(c, given.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return copy_work(c, given.memcpy.copyParams, given.memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return fill_work(c, older(given.memset), given.memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST:
      return host_work(given.host.fn, given.host.userData);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return child_work(c, given.graph.graph);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return event_work(c, given.type, given.eventRecord.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return event_work(c, given.type, given.eventWait.event);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return {};
    default:
      refuse(CUDA_ERROR_NOT_SUPPORTED, "the emulator has no nodes of this kind yet");
  }
}

CUgraphNodeParams parameters_of(const graph_node& of) {
  CUgraphNodeParams known{};
  const auto& work = of.work;
  if (work.done) work.done->describe(known);
  known.type = work.type;
  const auto where = work.where ? work.where->handle_as<CUcontext>() : nullptr;
  if (work.type == CU_GRAPH_NODE_TYPE_KERNEL) known.kernel.ctx = where;
  if (work.type == CU_GRAPH_NODE_TYPE_MEMCPY) known.memcpy.copyCtx = where;
  if (work.type == CU_GRAPH_NODE_TYPE_MEMSET) known.memset.ctx = where;
  if (work.child) known.graph.graph = work.child->handle_as<CUgraph>();
  if (work.recorded) known.eventRecord.event = work.recorded->handle_as<CUevent>();
  if (work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
    known.alloc.bytesize = work.memory->bytes();
    known.alloc.dptr = work.memory->base();
    known.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    known.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    known.alloc.poolProps.location.id = work.where->on().ordinal();
  }
  if (work.type == CU_GRAPH_NODE_TYPE_MEM_FREE) known.free.dptr = work.memory->base();
  return known;
}

CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                           const CUgraphNode* dependencies, const CUgraphEdgeData* dependencyData,
                           size_t numDependencies, CUgraphNodeParams* nodeParams) noexcept {
  return add(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams,
             [&](call& c) { return work_of(c, *nodeParams); });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 const CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return add(phGraphNode, hGraph, dependencies, nullptr, numDependencies, nodeParams,
             [&](call& c) { return kernel_work(c, newer(*nodeParams)); });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMCPY3D* copyParams, CUcontext ctx) noexcept {
  return add(phGraphNode, hGraph, dependencies, nullptr, numDependencies, copyParams,
             [&](call& c) { return copy_work(c, *copyParams, ctx); });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) noexcept {
  return add(phGraphNode, hGraph, dependencies, nullptr, numDependencies, memsetParams,
             [&](call& c) { return fill_work(c, *memsetParams, ctx); });
}

CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                            const CUgraphNode* dependencies, size_t numDependencies,
                            const CUDA_HOST_NODE_PARAMS* nodeParams) noexcept {
  return add(phGraphNode, hGraph, dependencies, nullptr, numDependencies, nodeParams,
             [&](call&) { return host_work(nodeParams->fn, nodeParams->userData); });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                             const CUgraphNode* dependencies, size_t numDependencies) noexcept {
  return add(phGraphNode, hGraph, dependencies, nullptr, numDependencies, phGraphNode,
             [](call&) { return node_work{}; });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                  const CUgraphNode* dependencies, size_t numDependencies,
                                  CUgraph childGraph) noexcept {
  return add(phGraphNode, hGraph, dependencies, nullptr, numDependencies, phGraphNode,
             [&](call& c) { return child_work(c, childGraph); });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                   const CUgraphNode* dependencies, size_t numDependencies,
                                   CUevent event) noexcept {
  return add(phGraphNode, hGraph, dependencies, nullptr, numDependencies, phGraphNode,
             [&](call& c) { return event_work(c, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event); });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 CUevent event) noexcept {
  return add(phGraphNode, hGraph, dependencies, nullptr, numDependencies, phGraphNode,
             [&](call& c) { return event_work(c, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event); });
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) noexcept {
  return answer([&](call& c) {
    require_outputs(type);
    *type = node_of(c, hNode)->work.type;
  });
}

CUresult cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) noexcept {
  return answer([&](call& c) {
    require_outputs(nodeParams);
    *nodeParams = parameters_of(*node_of(c, hNode));
  });
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) noexcept {
  return write(hNode, nodeParams, nodeParams ? nodeParams->type : CU_GRAPH_NODE_TYPE_EMPTY,
               [&](call& c) { return work_of(c, *nodeParams); });
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode,
                                       CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, [](const CUgraphNodeParams& known) {
    CUDA_KERNEL_NODE_PARAMS same;
    std::memcpy(&same, &known.kernel, sizeof same);
    return same;
  });
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode,
                                       const CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return write(hNode, nodeParams, CU_GRAPH_NODE_TYPE_KERNEL,
               [&](call& c) { return kernel_work(c, newer(*nodeParams)); });
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, nodeParams,
              [](const CUgraphNodeParams& known) { return known.memcpy.copyParams; });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode,
                                    CUDA_MEMSET_NODE_PARAMS* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEMSET, nodeParams,
              [](const CUgraphNodeParams& known) { return older(known.memset); });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, [](const CUgraphNodeParams& known) {
    return CUDA_HOST_NODE_PARAMS{known.host.fn, known.host.userData};
  });
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_GRAPH, phGraph,
              [](const CUgraphNodeParams& known) { return known.graph.graph; });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_out,
              [](const CUgraphNodeParams& known) { return known.eventRecord.event; });
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_out,
              [](const CUgraphNodeParams& known) { return known.eventWait.event; });
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, dptr_out,
              [](const CUgraphNodeParams& known) { return known.free.dptr; });
}

}  // namespace halfwarp::emulator::api
