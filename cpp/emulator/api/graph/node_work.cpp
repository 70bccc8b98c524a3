// SPDX-License-Identifier: Apache-2.0
// Converts node parameters to the work of nodes, and back.
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

// The function and context of a kernel node. A library kernel runs in the context of the parameters
// or in the current context.
struct resolved_kernel {
  std::shared_ptr<emulator::function> function;
  std::shared_ptr<emulator::context> context;
  CUkernel kernel;
};

resolved_kernel resolve_kernel(call& c, const CUDA_KERNEL_NODE_PARAMS_v3& p, bool checks_context) {
  require(p.func || p.kern, CUDA_ERROR_INVALID_VALUE, "the kernel of the node is null");
  const auto raw = p.func ? p.func : reinterpret_cast<CUfunction>(p.kern);
  const bool is_kernel =
      handle::is_ours(number_of(raw)) && handle::kind_of(number_of(raw)) == object_kind::kernel;
  if (is_kernel) {
    auto owner = context_or_current(c, p.ctx);
    return {function_of(c, raw, owner), owner, reinterpret_cast<CUkernel>(raw)};
  }
  auto target = function_of(c, raw, nullptr);
  auto owner = c.context_of(
      reinterpret_cast<CUcontext>(handle::encode(object_kind::context, target->context_id())));
  require(!checks_context || !p.ctx || c.context_of(p.ctx) == owner, CUDA_ERROR_INVALID_CONTEXT,
          "the function was loaded in a context other than the node's");
  return {std::move(target), std::move(owner), nullptr};
}

launch_shape shape_of(const CUDA_KERNEL_NODE_PARAMS_v3& p, const launch_attributes& attributes) {
  launch_shape shape;
  shape.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  shape.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  shape.dynamic_shared = p.sharedMemBytes;
  shape.apply(attributes);
  return shape;
}

void require_cloneable(const graph& source) {
  require(!source.allocates() && !source.has_nodes_of(CU_GRAPH_NODE_TYPE_CONDITIONAL),
          CUDA_ERROR_NOT_SUPPORTED,
          "a graph that allocates or frees memory, or has conditional nodes, cannot be copied into "
          "a node; one that allocates can be moved");
}

// Moves the ownership of a graph's memory to the graph that it is moved into.
void move_memory(const graph& moved, const graph& owner) {
  for (const auto& each : moved.nodes()) {
    if (!each->work.memory) continue;
    auto& memory = *each->work.memory;
    if (memory.allocated_in == moved.id()) memory.allocated_in = owner.id();
    if (memory.freed_in == moved.id()) memory.freed_in = owner.id();
  }
}

std::shared_ptr<graph> moved_child(call& c, const std::shared_ptr<graph>& moved,
                                   const graph& owner) {
  require(&owner != moved.get() && !moved->belongs_to_node() && moved->executable.expired(),
          CUDA_ERROR_INVALID_VALUE,
          "only a graph without an owner node and without an executable graph can be moved into a "
          "node");
  require(!moved->has_nodes_of(CU_GRAPH_NODE_TYPE_CONDITIONAL), CUDA_ERROR_NOT_SUPPORTED,
          "a child graph cannot have conditional nodes");
  for (const auto& each : c.d.captures) {
    require(each->graph != moved, CUDA_ERROR_INVALID_VALUE,
            "a capture into the graph is in progress");
  }
  move_memory(*moved, owner);
  moved->assign_to_node(graph_owner::child_node, owner);
  moved->was_moved = true;
  return moved;
}

memory::allocation_kind kind_of(const CUmemPoolProps& properties) {
  using enum memory::allocation_kind;
  if (properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) return managed;
  return pool;
}

void require_allocatable(const call& c, const CUDA_MEM_ALLOC_NODE_PARAMS_v2& p) {
  const auto type = p.poolProps.allocType;
  require(type == CU_MEM_ALLOCATION_TYPE_PINNED || type == CU_MEM_ALLOCATION_TYPE_MANAGED,
          CUDA_ERROR_INVALID_VALUE, "the allocation type is neither pinned nor managed");
  require(p.poolProps.handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_INVALID_VALUE,
          "graph memory cannot be shared between processes");
  const auto& location = p.poolProps.location;
  const bool is_host = location.type >= CU_MEM_LOCATION_TYPE_HOST &&
                       location.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
  const bool is_anywhere =
      location.type == CU_MEM_LOCATION_TYPE_NONE && type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) c.device_of(location.id);
  require(location.type == CU_MEM_LOCATION_TYPE_DEVICE || is_host || is_anywhere,
          CUDA_ERROR_INVALID_VALUE, "graph memory must be on a device or on the host");
  require(!is_host || type == CU_MEM_ALLOCATION_TYPE_MANAGED, CUDA_ERROR_NOT_SUPPORTED,
          "pinned graph memory must be on a device");
  require(p.bytesize > 0, CUDA_ERROR_INVALID_VALUE, "an allocation needs at least one byte");
  require(p.accessDescs || p.accessDescCount == 0, CUDA_ERROR_INVALID_VALUE,
          "the access list is null");
  for (const auto& each : std::span{p.accessDescs, p.accessDescCount}) {
    require(each.location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE,
            "only devices can get access to graph memory");
    c.device_of(each.location.id);
  }
}

// Returns the current context if it is on the device, else the device's primary context or null.
std::shared_ptr<context> context_on(const call& c, int device) {
  const auto& stack = this_thread().contexts;
  if (!stack.empty() && stack.back()->is_alive && stack.back()->device().ordinal() == device) {
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

std::shared_ptr<context> context_or_current(const call& c, CUcontext raw) {
  return raw ? c.context_of(raw) : c.current();
}

node_work kernel_work(call& c, const CUDA_KERNEL_NODE_PARAMS_v3& p, launch_attributes attributes,
                      bool checks_context) {
  auto [target, owner, kernel] = resolve_kernel(c, p, checks_context);
  node_work work{.type = CU_GRAPH_NODE_TYPE_KERNEL};
  work.operation = make_launch(c, *target, shape_of(p, attributes), 0, p.kernelParams, p.extra);
  work.context = std::move(owner);
  work.attributes = std::move(attributes);
  work.kernel = kernel;
  return work;
}

node_work copy_work(call& c, const CUDA_MEMCPY3D& p, CUcontext raw) {
  const auto owner = context_or_current(c, raw);
  return {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
          .operation = make_copy(c, p, owner->device().ordinal()),
          .context = owner};
}

node_work fill_work(call& c, const CUDA_MEMSET_NODE_PARAMS& p, CUcontext raw) {
  const auto owner = context_or_current(c, raw);
  return {.type = CU_GRAPH_NODE_TYPE_MEMSET,
          .operation = make_fill(c, p, owner->device().ordinal()),
          .context = owner};
}

node_work host_work(CUhostFn function, void* data) {
  require(function != nullptr, CUDA_ERROR_INVALID_VALUE, "the host function is null");
  return {.type = CU_GRAPH_NODE_TYPE_HOST,
          .operation = std::make_shared<host_call>(function, data)};
}

node_work event_work(const call& c, CUgraphNodeType type, CUevent raw) {
  return {.type = type, .event = c.find<event>(raw)};
}

node_work child_work(call& c, const CUDA_CHILD_GRAPH_NODE_PARAMS& p, const graph& owner) {
  const auto source = graph_of(c, p.graph);
  node_work work{.type = CU_GRAPH_NODE_TYPE_GRAPH};
  if (p.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
    work.child = moved_child(c, source, owner);
    return work;
  }
  require(p.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, CUDA_ERROR_INVALID_VALUE,
          "a child graph is cloned or moved");
  require_cloneable(*source);
  work.child = clone(c.d, *source);
  work.child->assign_to_node(graph_owner::child_node, owner);
  return work;
}

node_work allocation_work(call& c, graph& owner, CUDA_MEM_ALLOC_NODE_PARAMS_v2& p) {
  require_allocatable(c, p);
  require(!owner.was_moved, CUDA_ERROR_NOT_SUPPORTED,
          "memory nodes cannot be added to a graph that was moved into a node");
  const bool is_device = p.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  auto context_on_device = is_device ? context_on(c, p.poolProps.location.id) : nullptr;
  memory::allocation_request request;
  request.size = p.bytesize;
  request.kind = kind_of(p.poolProps);
  request.device = is_device ? p.poolProps.location.id : 0;
  request.context = context_on_device ? context_on_device->id() : 0;
  request.is_internal = true;  // the program destroys the graph
  request.created_at = call_site();
  const auto address = c.d.memory.reserve(request);
  require(address.has_value(), CUDA_ERROR_OUT_OF_MEMORY,
          "the address space has no free range of this size");
  auto memory = std::make_shared<graph_memory>(c.d, *c.d.memory.find_reserved_or_live(*address), p);
  memory->allocated_in = owner.id();
  c.d.graph_memories[*address] = memory;
  p.dptr = *address;
  return {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
          .context = std::move(context_on_device),
          .memory = memory};
}

node_work free_work(call& c, graph& owner, CUdeviceptr address) {
  const auto match = c.d.graph_memories.find(address);
  require(match != c.d.graph_memories.end(), CUDA_ERROR_INVALID_VALUE,
          "no node of a graph allocates memory at this address");
  auto memory = match->second.lock();
  require(memory && memory->freed_in == 0, CUDA_ERROR_INVALID_VALUE,
          "a node already frees this memory");
  require(!owner.was_moved, CUDA_ERROR_NOT_SUPPORTED,
          "memory nodes cannot be added to a graph that was moved into a node");
  memory->freed_in = owner.id();
  return {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .memory = std::move(memory)};
}

node_work conditional_work(call& c, graph& owner, CUDA_CONDITIONAL_NODE_PARAMS& p) {
  const auto handle = c.find<conditional>(p.handle, CUDA_ERROR_INVALID_VALUE);
  require(owner.has_handle(*handle), CUDA_ERROR_INVALID_VALUE,
          "the conditional handle was created for another graph");
  require(!handle->has_node, CUDA_ERROR_INVALID_VALUE, "the conditional handle already has a node");
  require(is_size_of(p.type, p.size), CUDA_ERROR_INVALID_VALUE,
          "an if node has one or two bodies, a while node one, a switch node at least one");
  const auto context_of_node = context_or_current(c, p.ctx);
  require(context_of_node->id() == handle->context(), CUDA_ERROR_INVALID_VALUE,
          "the conditional handle was created in another context");
  auto branches = std::make_shared<node_branches>();
  branches->selector = handle;
  branches->type = p.type;
  for (unsigned i = 0; i < p.size; ++i) {
    branches->bodies.push_back(c.d.objects.make<graph>());
    branches->bodies.back()->assign_to_node(graph_owner::conditional_node, owner);
    branches->handles.push_back(branches->bodies.back()->handle_as<CUgraph>());
  }
  handle->has_node = true;
  p.phGraph_out = branches->handles.data();
  return {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL, .context = context_of_node, .branches = branches};
}

node_work work_of(call& c, graph& owner, CUgraphNodeParams& params, bool checks_context) {
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return kernel_work(c, params.kernel, {}, checks_context);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return copy_work(c, params.memcpy.copyParams, params.memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return fill_work(c, older(params.memset), params.memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST:
      return host_work(params.host.fn, params.host.userData);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return child_work(c, params.graph, owner);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return event_work(c, params.type, params.eventRecord.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return event_work(c, params.type, params.eventWait.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return allocation_work(c, owner, params.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return free_work(c, owner, params.free.dptr);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return conditional_work(c, owner, params.conditional);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return {};
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    case CU_GRAPH_NODE_TYPE_MEMCPY_BATCH:
    case CU_GRAPH_NODE_TYPE_FABRIC_CPY_BATCH:
      refuse(CUDA_ERROR_NOT_SUPPORTED, "the emulator does not support nodes of this type");
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such node type");
  }
}

CUgraphNodeParams parameters_of(const graph_node& node) {
  CUgraphNodeParams params{};
  const auto& work = node.work;
  if (work.operation) work.operation->describe(params);
  params.type = work.type;
  const auto context_handle = work.context ? work.context->handle_as<CUcontext>() : nullptr;
  switch (work.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      params.kernel.ctx = context_handle;
      params.kernel.kern = work.kernel;
      if (work.kernel) params.kernel.func = nullptr;
      break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      params.memcpy.copyCtx = context_handle;
      break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      params.memset.ctx = context_handle;
      break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      params.graph = {work.child->handle_as<CUgraph>(), CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID};
      break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      params.eventRecord.event = work.event->handle_as<CUevent>();
      break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      params.alloc = work.memory->parameters();
      break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      params.free.dptr = work.memory->base();
      break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      params.conditional = {work.branches->selector->handle_as<CUgraphConditionalHandle>(),
                            work.branches->type,
                            static_cast<unsigned>(work.branches->bodies.size()),
                            work.branches->handles.data(), context_handle};
      break;
    default:
      break;
  }
  return params;
}

CUDA_KERNEL_NODE_PARAMS_v3 newer(const CUDA_KERNEL_NODE_PARAMS& p) {
  static_assert(sizeof(p) == sizeof(CUDA_KERNEL_NODE_PARAMS_v3));
  CUDA_KERNEL_NODE_PARAMS_v3 result;
  std::memcpy(&result, &p, sizeof result);
  return result;
}

CUDA_KERNEL_NODE_PARAMS older(const CUDA_KERNEL_NODE_PARAMS_v3& p) {
  CUDA_KERNEL_NODE_PARAMS result;
  std::memcpy(&result, &p, sizeof result);
  return result;
}

CUDA_MEMSET_NODE_PARAMS older(const CUDA_MEMSET_NODE_PARAMS_v2& p) {
  return {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
}

}  // namespace halfwarp::emulator::api
