// SPDX-License-Identifier: Apache-2.0
// Allocates and frees device and managed memory, immediately or in stream order.
#include <string>

#include "emulator/api/call.hpp"
#include "emulator/api/graph/graph_call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/device/memory_pool.hpp"
#include "emulator/driver/findings/misuse.hpp"
#include "emulator/object/current_call.hpp"
#include "emulator/stream/schedule/hazards.hpp"
#include "emulator/work/memory_operations.hpp"

namespace halfwarp::emulator::api {
namespace {

void require_size(std::size_t bytes) {
  require(bytes > 0, CUDA_ERROR_INVALID_VALUE, "an allocation needs at least one byte");
}

[[noreturn]] void refuse_memory(const call& c, const device& target, std::uint64_t bytes) {
  const auto usage = c.d.memory.device_usage(target.ordinal());
  refuse(CUDA_ERROR_OUT_OF_MEMORY, std::to_string(bytes) + " bytes requested on device " +
                                       std::to_string(target.ordinal()) + ", " +
                                       std::to_string(usage.capacity - usage.used) + " of " +
                                       std::to_string(usage.capacity) +
                                       " bytes free; the emulator's option `memory` sets the size");
}

// Allocates; on failure waits for queued frees and tries again.
template <class Attempt>
memory::address allocate_or_wait(call& c, context& owner, std::uint64_t bytes, Attempt&& attempt) {
  auto address = attempt();
  if (!address && !c.d.being_freed.empty()) {
    c.d.streams.wait_for_all(c.guard, owner);
    address = attempt();
  }
  if (!address) refuse_memory(c, owner.device(), bytes);
  return *address;
}

// Adds an allocation node; its address is the same in every launch.
CUdeviceptr allocate_in_capture(call& c, const memory_pool& from, stream& target,
                                std::size_t bytes) {
  auto params = params_of(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  params.alloc.poolProps = from.properties();
  params.alloc.bytesize = bytes;
  add_captured(c.d, target, create_work(c, *capture_of(target)->capture->graph, params));
  return params.alloc.dptr;
}

void free_in_capture(call& c, const stream_capture& state, stream& target, CUdeviceptr address) {
  auto params = params_of(CU_GRAPH_NODE_TYPE_MEM_FREE);
  params.free.dptr = address;
  add_captured(c.d, target, create_work(c, *state.capture->graph, params));
}

// Returns unfreed memory of a graph launch and marks it freed, or returns null.
std::shared_ptr<graph_memory> take_unfreed(call& c, CUdeviceptr address) {
  auto memory = find_unfreed(c.d, address);
  if (!memory) return nullptr;
  c.d.unfreed.erase(memory);
  memory->mapping.reset();
  return memory;
}

CUdeviceptr allocate_from(call& c, memory_pool& pool, stream& target, std::size_t bytes) {
  if (bytes == 0) return 0;  // as a device does; cuMemAlloc refuses 0
  if (capture_of(target)) return allocate_in_capture(c, pool, target, bytes);
  require_no_implicit_wait(c.d, target);
  auto& owner = target.owner().root();
  const CUdeviceptr address = allocate_or_wait(c, owner, bytes, [&] {
    return pool.allocate(c.d.memory, bytes, owner.id(), target.number());
  });
  if (auto* const hazards = c.d.streams.hazards()) hazards->allocate(target, address);
  return address;
}

CUdeviceptr allocate_now(call& c, std::size_t bytes, memory::allocation_kind kind) {
  require_size(bytes);
  require_safe_in_captures(c.d);
  auto& owner = *c.current();
  memory::allocation_request request;
  request.size = bytes;
  request.kind = kind;
  request.device = owner.device().ordinal();
  request.context = owner.id();
  request.created_at = call_site();
  return allocate_or_wait(c, owner, bytes, [&] { return c.d.memory.allocate(request); });
}

std::shared_ptr<memory_pool> pool_of(const call& c, const memory::allocation& allocation) {
  if (allocation.pool == 0) return nullptr;
  for (const auto& each : c.d.pools) {
    if (each->id() == allocation.pool) return each;
  }
  return nullptr;
}

void require_allocated(const memory::allocation& allocation) {
  using enum memory::allocation_kind;
  const bool is_mapped = allocation.kind == mapped || allocation.kind == mapped_host;
  require(!allocation.is_imported || allocation.pool != 0, CUDA_ERROR_INVALID_VALUE,
          "memory of an interprocess handle is closed with cuIpcCloseMemHandle");
  require(!is_mapped, CUDA_ERROR_INVALID_VALUE, "mapped memory is unmapped with cuMemUnmap");
  require(allocation.kind != heap, CUDA_ERROR_INVALID_VALUE,
          "memory of malloc in a kernel is freed with free in a kernel");
  require(allocation.kind != variable && allocation.kind != registered, CUDA_ERROR_INVALID_VALUE,
          "module variables and registered memory cannot be freed");
}

constexpr std::size_t pitch_alignment = 512;

}  // namespace

memory::allocation require_base(const call& c, CUdeviceptr address) {
  const auto match = c.d.memory.find_live(address);
  require(!c.d.graph_memories.contains(address), CUDA_ERROR_INVALID_VALUE,
          "the memory belongs to a graph, and no launch has left it allocated");
  if (match && match->base == address && !c.d.being_freed.contains(match->sequence)) return *match;
  const auto nearest = c.d.memory.nearest(address);
  std::string text = report::hexadecimal(address);
  if (match && match->base != address) {
    text += " lies inside an allocation, which begins at " + report::hexadecimal(match->base);
  } else if (match || (nearest && nearest->base == address)) {
    text += " was already freed";
    if (nearest && !nearest->freed_at.empty()) text += ", at " + nearest->freed_at;
    report_freed(c.d, report::fault_kind::double_free, text);
  } else {
    text += " was not allocated by this driver";
  }
  refuse(CUDA_ERROR_INVALID_VALUE, text);
}

CUresult cuMemAlloc(CUdeviceptr* dptr, size_t bytesize) noexcept {
  return run_locked([&](call& c) {
    require_outputs(dptr);
    *dptr = allocate_now(c, bytesize, memory::allocation_kind::device);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytesize, unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(dptr);
    require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST, CUDA_ERROR_INVALID_VALUE,
            "the flags of managed memory are CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST");
    *dptr = allocate_now(c, bytesize, memory::allocation_kind::managed);
  });
}

CUresult cuMemAllocPitch(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes, size_t Height,
                         unsigned int ElementSizeBytes) noexcept {
  return run_locked([&](call& c) {
    require_outputs(dptr, pPitch);
    require(ElementSizeBytes == 4 || ElementSizeBytes == 8 || ElementSizeBytes == 16,
            CUDA_ERROR_INVALID_VALUE, "the element size is 4, 8 or 16 bytes");
    const auto pitch = (WidthInBytes + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
    *dptr = allocate_now(c, pitch * Height, memory::allocation_kind::device);
    *pPitch = pitch;
  });
}

CUresult cuMemFree(CUdeviceptr dptr) noexcept {
  return run_locked([&](call& c) {
    if (dptr == 0) return;
    require_safe_in_captures(c.d);
    c.require_current_alive();
    if (const auto unfreed = take_unfreed(c, dptr)) {
      c.d.streams.wait_for_all(c.guard, *c.current());
      c.d.memory.deactivate(dptr, {0, call_site()});
      return;
    }
    const auto allocation = require_base(c, dptr);
    require(allocation.kind != memory::allocation_kind::pinned || allocation.pool != 0,
            CUDA_ERROR_INVALID_VALUE, "pinned host memory is freed with cuMemFreeHost");
    require_allocated(allocation);
    auto& owner = *c.current();
    c.d.being_freed.insert(allocation.sequence);
    c.d.streams.wait_for_all(c.guard, owner);
    c.d.being_freed.erase(allocation.sequence);
    if (const auto pool = pool_of(c, allocation)) pool->deallocate(allocation.size);
    c.d.managed.erase(allocation);
    c.d.memory.release(dptr, {0, call_site()});
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    require_outputs(dptr);
    const auto target = c.stream_of(hStream);
    *dptr = allocate_from(c, *current_pool(c.d, target->owner().device()), *target, bytesize);
  });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool pool,
                                 CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    require_outputs(dptr);
    const auto from = c.find<memory_pool>(pool, CUDA_ERROR_INVALID_VALUE);
    require(!from->is_imported(), CUDA_ERROR_INVALID_VALUE,
            "the pool was imported; only the process that created it can allocate from it");
    *dptr = allocate_from(c, *from, *c.stream_of(hStream), bytesize);
  });
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.stream_of(hStream);
    if (dptr == 0) return;
    if (const auto* const state = capture_of(*target))
      return free_in_capture(c, *state, *target, dptr);
    require_no_implicit_wait(c.d, *target);
    require_safe_in_captures(c.d);
    if (auto unfreed = take_unfreed(c, dptr)) {
      c.submit(*target, make_deactivation(std::move(unfreed), call_site()));
      return;
    }
    const auto allocation = require_base(c, dptr);
    require_allocated(allocation);
    c.d.being_freed.insert(allocation.sequence);
    c.d.managed.erase(allocation);
    c.submit(*target, std::make_shared<free_memory>(allocation, pool_of(c, allocation),
                                                    target->number(), call_site()));
  });
}

CUresult cuMemGetInfo(size_t* free, size_t* total) noexcept {
  return run_locked([&](call& c) {
    require_outputs(free, total);
    const int device = c.current()->device().ordinal();
    const auto usage = c.d.memory.device_usage(device);
    std::uint64_t cached = 0;  // reserved by pools, but not allocated
    for (const auto& each : c.d.pools) {
      if (each->is_device_pool() && each->home() == device) cached += each->reserved - each->used;
    }
    const auto occupied = usage.used + cached;
    *total = usage.capacity;
    *free = occupied < usage.capacity ? usage.capacity - occupied : 0;
  });
}

CUresult cuMemGetAddressRange(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr) noexcept {
  return run_locked([&](call& c) {
    const auto match = c.d.memory.find_reserved_or_live(dptr);
    require(match.has_value(), CUDA_ERROR_NOT_FOUND, "no allocation contains this address");
    if (pbase) *pbase = match->base;
    if (psize) *psize = match->size;
  });
}

}  // namespace halfwarp::emulator::api
