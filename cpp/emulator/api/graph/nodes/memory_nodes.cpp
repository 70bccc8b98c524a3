// SPDX-License-Identifier: Apache-2.0
// Nodes that allocate memory, and nodes that free it.
#include <span>

#include "emulator/api/graph/node_kinds.hpp"
#include "emulator/graph/dot/dot_rows.hpp"
#include "emulator/graph/plan.hpp"
#include "emulator/object/current_call.hpp"

namespace halfwarp::emulator::api {
namespace {

class memory_work : public node_work {
 public:
  memory_work(const node_traits& kind, std::shared_ptr<emulator::context> owner,
              std::shared_ptr<graph_memory> memory)
      : node_work{kind, std::move(owner)}, memory_{std::move(memory)} {}

 protected:
  const std::shared_ptr<graph_memory>& memory() const noexcept { return memory_; }

 private:
  std::shared_ptr<graph_memory> memory_;
};

class allocation_work final : public memory_work {
 public:
  using memory_work::memory_work;
  std::shared_ptr<operation> make_operation(const node_launch&) const override {
    return make_activation(memory());
  }
  std::shared_ptr<graph_memory> allocated_memory() const override { return memory(); }
  void write_rows(dot_rows& rows) const override {
    if (!rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS)) return;
    rows.add_address("dptr", memory()->base());
    rows.add("bytesize", {memory()->bytes()});
  }

 private:
  void describe(CUgraphNodeParams& params) const override { params.alloc = memory()->parameters(); }
};

class free_work final : public memory_work {
 public:
  using memory_work::memory_work;
  std::shared_ptr<operation> make_operation(const node_launch& launch) const override {
    return make_deactivation(memory(), launch.scope.site);
  }
  std::shared_ptr<graph_memory> freed_memory() const override { return memory(); }
  void write_rows(dot_rows& rows) const override {
    if (!rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS)) return;
    rows.add_address("dptr", memory()->base());
  }

 private:
  void describe(CUgraphNodeParams& params) const override { params.free.dptr = memory()->base(); }
};

memory::allocation_kind pool_kind_of(const CUmemPoolProps& properties) {
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

void require_own_memory(const graph& owner) {
  require(!owner.was_moved, CUDA_ERROR_NOT_SUPPORTED,
          "memory nodes cannot be added to a graph that was moved into a node");
}

std::shared_ptr<node_work> create_allocation(const node_request& request) {
  auto& [c, owner, params, current, context_from] = request;
  auto& p = params.alloc;
  require_allocatable(c, p);
  require_own_memory(owner);
  const bool is_device = p.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  auto context_on_device = is_device ? context_on(c, p.poolProps.location.id) : nullptr;
  memory::allocation_request reservation;
  reservation.size = p.bytesize;
  reservation.kind = pool_kind_of(p.poolProps);
  reservation.device = is_device ? p.poolProps.location.id : 0;
  reservation.context = context_on_device ? context_on_device->id() : 0;
  reservation.is_internal = true;  // the program destroys the graph
  reservation.created_at = call_site();
  const auto address = c.d.memory.reserve(reservation);
  require(address.has_value(), CUDA_ERROR_OUT_OF_MEMORY,
          "the address space has no free range of this size");
  auto memory = std::make_shared<graph_memory>(c.d, *c.d.memory.find_reserved_or_live(*address), p);
  memory->allocated_in = owner.id();
  c.d.graph_memories[*address] = memory;
  p.dptr = *address;
  return std::make_shared<allocation_work>(allocation_kind.traits, std::move(context_on_device),
                                           std::move(memory));
}

std::shared_ptr<node_work> create_free(const node_request& request) {
  const auto& memories = request.c.d.graph_memories;
  const auto match = memories.find(request.params.free.dptr);
  require(match != memories.end(), CUDA_ERROR_INVALID_VALUE,
          "no node of a graph allocates memory at this address");
  auto memory = match->second.lock();
  require(memory && memory->freed_in == 0, CUDA_ERROR_INVALID_VALUE,
          "a node already frees this memory");
  require_own_memory(request.owner);
  memory->freed_in = request.owner.id();
  return std::make_shared<free_work>(free_kind.traits, nullptr, std::move(memory));
}

CUDA_MEM_ALLOC_NODE_PARAMS older(const CUgraphNodeParams& params) {
  const auto& p = params.alloc;
  return {p.poolProps, p.accessDescs, p.accessDescCount, p.bytesize, p.dptr};
}

}  // namespace

constexpr node_kind allocation_kind{
    .traits = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .name = "MEM_ALLOC"},
    .create = create_allocation,
    .has_fixed_parameters = true,
};

constexpr node_kind free_kind{
    .traits = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .name = "MEM_FREE"},
    .create = create_free,
    .has_fixed_parameters = true,
};

CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                const CUgraphNode* dependencies, size_t numDependencies,
                                CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) noexcept {
  auto params = params_of(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  if (nodeParams) {
    const auto& p = *nodeParams;
    params.alloc = {p.poolProps, p.accessDescs, p.accessDescCount, p.bytesize, 0};
  }
  const auto result = add_node({phGraphNode, hGraph, dependencies, numDependencies},
                               nodeParams ? &params : nullptr);
  if (result == CUDA_SUCCESS) nodeParams->dptr = params.alloc.dptr;
  return result;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                               const CUgraphNode* dependencies, size_t numDependencies,
                               CUdeviceptr dptr) noexcept {
  auto params = params_of(CU_GRAPH_NODE_TYPE_MEM_FREE);
  params.free.dptr = dptr;
  return add_node({phGraphNode, hGraph, dependencies, numDependencies}, &params);
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode,
                                      CUDA_MEM_ALLOC_NODE_PARAMS* params_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, params_out, older);
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, dptr_out,
              [](const CUgraphNodeParams& params) { return params.free.dptr; });
}

}  // namespace halfwarp::emulator::api
