// SPDX-License-Identifier: Apache-2.0
// What nodes do, from the parameters that a program gives, and back.
#include <cstring>

#include "emulator/api/graph/graph_call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/api/module/launch_limits.hpp"
#include "emulator/api/module/module_call.hpp"
#include "emulator/object/current_call.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator::api {
namespace {

std::uint64_t number_of(const void* raw) { return reinterpret_cast<std::uint64_t>(raw); }

// A node that was given a kernel of a library runs in the context named, or the current one.
struct kernel_place {
  std::shared_ptr<function> what;
  std::shared_ptr<context> where;
  CUkernel kernel;
};

kernel_place place_kernel(call& c, const CUDA_KERNEL_NODE_PARAMS_v3& p, bool checks_context) {
  require(p.func || p.kern, CUDA_ERROR_INVALID_VALUE, "the kernel of the node is null");
  const auto raw = p.func ? p.func : reinterpret_cast<CUfunction>(p.kern);
  const bool is_kernel =
      handle::is_ours(number_of(raw)) && handle::kind_of(number_of(raw)) == object_kind::kernel;
  if (is_kernel) {
    auto where = place_of(c, p.ctx);
    return {function_of(c, raw, where), where, reinterpret_cast<CUkernel>(raw)};
  }
  auto what = function_of(c, raw, nullptr);
  auto where = c.context_of(
      reinterpret_cast<CUcontext>(handle::encode(object_kind::context, what->context_id())));
  require(!checks_context || !p.ctx || c.context_of(p.ctx) == where, CUDA_ERROR_INVALID_CONTEXT,
          "the function was loaded in another context than the node names");
  return {std::move(what), std::move(where), nullptr};
}

launch_shape shape_of(const CUDA_KERNEL_NODE_PARAMS_v3& p, const launch_attributes& attributes) {
  launch_shape shape;
  shape.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  shape.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  shape.dynamic_shared = p.sharedMemBytes;
  shape.take(attributes);
  return shape;
}

void require_own_graphs(const graph& given) {
  require(!given.allocates() && !given.has_nodes_of(CU_GRAPH_NODE_TYPE_CONDITIONAL),
          CUDA_ERROR_NOT_SUPPORTED,
          "a graph that allocates or frees memory, or has conditional nodes, cannot be copied into "
          "a node; one that allocates can be moved");
}

// Its memory now belongs to the graph that it is moved into.
void move_memory(const graph& moved, const graph& into) {
  for (const auto& each : moved.nodes()) {
    if (!each->work.memory) continue;
    auto& memory = *each->work.memory;
    if (memory.allocated_in == moved.id()) memory.allocated_in = into.id();
    if (memory.freed_in == moved.id()) memory.freed_in = into.id();
  }
}

std::shared_ptr<graph> moved_child(call& c, const std::shared_ptr<graph>& given, const graph& in) {
  require(&in != given.get() && !given->is_of_node() && given->executable.expired(),
          CUDA_ERROR_INVALID_VALUE,
          "only a graph of its own that has no executable can be moved into a node");
  require(!given->has_nodes_of(CU_GRAPH_NODE_TYPE_CONDITIONAL), CUDA_ERROR_NOT_SUPPORTED,
          "a child graph has no conditional nodes");
  for (const auto& each : c.d.captures) {
    require(each->into != given, CUDA_ERROR_INVALID_VALUE, "a capture into the graph is under way");
  }
  move_memory(*given, in);
  given->give_to_node(graph_owner::child_node, in);
  given->was_moved = true;
  return given;
}

memory::allocation_kind kind_of(const CUmemPoolProps& of) {
  using enum memory::allocation_kind;
  if (of.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) return managed;
  return pool;
}

void require_allocatable(const call& c, const CUDA_MEM_ALLOC_NODE_PARAMS_v2& p) {
  const auto type = p.poolProps.allocType;
  require(type == CU_MEM_ALLOCATION_TYPE_PINNED || type == CU_MEM_ALLOCATION_TYPE_MANAGED,
          CUDA_ERROR_INVALID_VALUE, "the allocation type is neither pinned nor managed");
  require(p.poolProps.handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_INVALID_VALUE,
          "memory of a graph has no handles between processes");
  const auto& where = p.poolProps.location;
  const bool is_host = where.type >= CU_MEM_LOCATION_TYPE_HOST &&
                       where.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
  const bool is_anywhere =
      where.type == CU_MEM_LOCATION_TYPE_NONE && type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  if (where.type == CU_MEM_LOCATION_TYPE_DEVICE) c.device_of(where.id);
  require(where.type == CU_MEM_LOCATION_TYPE_DEVICE || is_host || is_anywhere,
          CUDA_ERROR_INVALID_VALUE, "memory of a graph lies on a device or on the host");
  require(!is_host || type == CU_MEM_ALLOCATION_TYPE_MANAGED, CUDA_ERROR_NOT_SUPPORTED,
          "pinned memory of a graph lies on a device");
  require(p.bytesize > 0, CUDA_ERROR_INVALID_VALUE, "an allocation needs at least one byte");
  require(p.accessDescs || p.accessDescCount == 0, CUDA_ERROR_INVALID_VALUE,
          "the access list is null");
  for (const auto& each : std::span{p.accessDescs, p.accessDescCount}) {
    require(each.location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE,
            "access to memory of a graph is given to devices");
    c.device_of(each.location.id);
  }
}

// The current context, if it is of the device; else that which the device has, if any.
std::shared_ptr<context> context_on(const call& c, int device) {
  const auto& stack = this_thread().contexts;
  if (!stack.empty() && stack.back()->is_alive && stack.back()->on().ordinal() == device) {
    return stack.back();
  }
  return c.device_of(device).primary;
}

bool is_size_of(CUgraphConditionalNodeType type, unsigned size) {
  switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
      return size == 1 || size == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
      return size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
      return size > 0;
    default:
      return false;
  }
}

}  // namespace

std::shared_ptr<context> place_of(const call& c, CUcontext raw) {
  return raw ? c.context_of(raw) : c.current();
}

node_work kernel_work(call& c, const CUDA_KERNEL_NODE_PARAMS_v3& p, launch_attributes attributes,
                      bool checks_context) {
  auto [what, where, kernel] = place_kernel(c, p, checks_context);
  node_work made{.type = CU_GRAPH_NODE_TYPE_KERNEL};
  made.done = make_launch(c, *what, shape_of(p, attributes), 0, p.kernelParams, p.extra);
  made.where = std::move(where);
  made.attributes = std::move(attributes);
  made.kernel = kernel;
  return made;
}

node_work copy_work(call& c, const CUDA_MEMCPY3D& p, CUcontext raw) {
  const auto where = place_of(c, raw);
  return {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
          .done = make_copy(c, p, where->on().ordinal()),
          .where = where};
}

node_work fill_work(call& c, const CUDA_MEMSET_NODE_PARAMS& p, CUcontext raw) {
  const auto where = place_of(c, raw);
  return {.type = CU_GRAPH_NODE_TYPE_MEMSET,
          .done = make_fill(c, p, where->on().ordinal()),
          .where = where};
}

node_work host_work(CUhostFn function, void* data) {
  require(function != nullptr, CUDA_ERROR_INVALID_VALUE, "the host function is null");
  return {.type = CU_GRAPH_NODE_TYPE_HOST, .done = std::make_shared<host_call>(function, data)};
}

node_work event_work(const call& c, CUgraphNodeType type, CUevent raw) {
  return {.type = type, .recorded = c.find<event>(raw)};
}

node_work child_work(call& c, const CUDA_CHILD_GRAPH_NODE_PARAMS& p, const graph& in) {
  const auto given = graph_of(c, p.graph);
  node_work made{.type = CU_GRAPH_NODE_TYPE_GRAPH};
  if (p.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
    made.child = moved_child(c, given, in);
    return made;
  }
  require(p.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, CUDA_ERROR_INVALID_VALUE,
          "a child graph is cloned or moved");
  require_own_graphs(*given);
  made.child = clone(c.d, *given);
  made.child->give_to_node(graph_owner::child_node, in);
  return made;
}

node_work allocation_work(call& c, graph& in, CUDA_MEM_ALLOC_NODE_PARAMS_v2& p) {
  require_allocatable(c, p);
  require(!in.was_moved, CUDA_ERROR_NOT_SUPPORTED,
          "a graph that was moved into a node takes no more memory nodes");
  const bool is_device = p.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  auto where = is_device ? context_on(c, p.poolProps.location.id) : nullptr;
  memory::allocation_request request;
  request.size = p.bytesize;
  request.kind = kind_of(p.poolProps);
  request.device = is_device ? p.poolProps.location.id : 0;
  request.context = where ? where->id() : 0;
  request.is_internal = true;  // the graph is what the program has to give back
  request.created_at = call_site();
  const auto at = c.d.memory.reserve(request);
  require(at.has_value(), CUDA_ERROR_OUT_OF_MEMORY,
          "there are no addresses left for so many bytes");
  auto memory = std::make_shared<graph_memory>(c.d, *c.d.memory.find_reserved_or_live(*at), p);
  memory->allocated_in = in.id();
  c.d.graph_memories[*at] = memory;
  p.dptr = *at;
  return {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .where = std::move(where), .memory = memory};
}

node_work free_work(call& c, graph& in, CUdeviceptr at) {
  const auto found = c.d.graph_memories.find(at);
  require(found != c.d.graph_memories.end(), CUDA_ERROR_INVALID_VALUE,
          "no node of a graph allocates memory at this address");
  auto memory = found->second.lock();
  require(memory && memory->freed_in == 0, CUDA_ERROR_INVALID_VALUE,
          "a graph frees this memory already");
  require(!in.was_moved, CUDA_ERROR_NOT_SUPPORTED,
          "a graph that was moved into a node takes no more memory nodes");
  memory->freed_in = in.id();
  return {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .memory = std::move(memory)};
}

node_work conditional_work(call& c, graph& in, CUDA_CONDITIONAL_NODE_PARAMS& p) {
  const auto decides = c.find<conditional>(p.handle, CUDA_ERROR_INVALID_VALUE);
  require(in.knows(*decides), CUDA_ERROR_INVALID_VALUE,
          "the conditional handle was made for another graph");
  require(!decides->has_node, CUDA_ERROR_INVALID_VALUE,
          "the conditional handle has a node already");
  require(is_size_of(p.type, p.size), CUDA_ERROR_INVALID_VALUE,
          "an if has one or two graphs, a while one, a switch at least one");
  const auto where = place_of(c, p.ctx);
  require(where->id() == decides->context(), CUDA_ERROR_INVALID_VALUE,
          "the conditional handle was made in another context");
  auto branches = std::make_shared<node_branches>();
  branches->decides = decides;
  branches->type = p.type;
  for (unsigned i = 0; i < p.size; ++i) {
    branches->bodies.push_back(c.d.objects.make<graph>());
    branches->bodies.back()->give_to_node(graph_owner::conditional_node, in);
    branches->handles.push_back(branches->bodies.back()->handle_as<CUgraph>());
  }
  decides->has_node = true;
  p.phGraph_out = branches->handles.data();
  return {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL, .where = where, .branches = branches};
}

node_work work_of(call& c, graph& in, CUgraphNodeParams& given, bool checks_context) {
  switch (given.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return kernel_work(c, given.kernel, {}, checks_context);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return copy_work(c, given.memcpy.copyParams, given.memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return fill_work(c, older(given.memset), given.memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST:
      return host_work(given.host.fn, given.host.userData);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return child_work(c, given.graph, in);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return event_work(c, given.type, given.eventRecord.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return event_work(c, given.type, given.eventWait.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return allocation_work(c, in, given.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return free_work(c, in, given.free.dptr);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return conditional_work(c, in, given.conditional);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return {};
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    case CU_GRAPH_NODE_TYPE_MEMCPY_BATCH:
    case CU_GRAPH_NODE_TYPE_FABRIC_CPY_BATCH:
      refuse(CUDA_ERROR_NOT_SUPPORTED, "the emulator has no nodes of this kind");
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such kind of node");
  }
}

CUgraphNodeParams parameters_of(const graph_node& of) {
  CUgraphNodeParams known{};
  const auto& work = of.work;
  if (work.done) work.done->describe(known);
  known.type = work.type;
  const auto where = work.where ? work.where->handle_as<CUcontext>() : nullptr;
  switch (work.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      known.kernel.ctx = where;
      known.kernel.kern = work.kernel;
      if (work.kernel) known.kernel.func = nullptr;
      break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      known.memcpy.copyCtx = where;
      break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      known.memset.ctx = where;
      break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      known.graph = {work.child->handle_as<CUgraph>(), CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID};
      break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      known.eventRecord.event = work.recorded->handle_as<CUevent>();
      break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      known.alloc = work.memory->parameters();
      break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      known.free.dptr = work.memory->base();
      break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      known.conditional = {work.branches->decides->handle_as<CUgraphConditionalHandle>(),
                           work.branches->type, static_cast<unsigned>(work.branches->bodies.size()),
                           work.branches->handles.data(), where};
      break;
    default:
      break;
  }
  return known;
}

CUDA_KERNEL_NODE_PARAMS_v3 newer(const CUDA_KERNEL_NODE_PARAMS& p) {
  static_assert(sizeof(p) == sizeof(CUDA_KERNEL_NODE_PARAMS_v3));
  CUDA_KERNEL_NODE_PARAMS_v3 same;
  std::memcpy(&same, &p, sizeof same);
  return same;
}

CUDA_KERNEL_NODE_PARAMS older(const CUDA_KERNEL_NODE_PARAMS_v3& p) {
  CUDA_KERNEL_NODE_PARAMS same;
  std::memcpy(&same, &p, sizeof same);
  return same;
}

CUDA_MEMSET_NODE_PARAMS older(const CUDA_MEMSET_NODE_PARAMS_v2& p) {
  return {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
}

}  // namespace halfwarp::emulator::api
