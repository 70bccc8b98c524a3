// SPDX-License-Identifier: Apache-2.0
// Device and managed memory, at once or in the order of a stream.
#include <string>

#include "emulator/api/call.hpp"
#include "emulator/api/graph/graph_call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/device/memory_pool.hpp"
#include "emulator/driver/misuse.hpp"
#include "emulator/object/current_call.hpp"
#include "emulator/work/memory_operations.hpp"

namespace halfwarp::emulator::api {
namespace {

void require_size(std::size_t bytes) {
  require(bytes > 0, CUDA_ERROR_INVALID_VALUE, "an allocation needs at least one byte");
}

[[noreturn]] void refuse_memory(const call& c, const device& of, std::uint64_t bytes) {
  const auto usage = c.d.memory.device_usage(of.ordinal());
  refuse(CUDA_ERROR_OUT_OF_MEMORY,
         std::to_string(bytes) + " bytes asked of device " + std::to_string(of.ordinal()) + ", " +
             std::to_string(usage.capacity - usage.used) + " of " + std::to_string(usage.capacity) +
             " bytes free; the emulator's option `memory` sets the size");
}

// Memory that frees in streams will give back may be what is missing.
template <class Attempt>
memory::address allocate_or_wait(call& c, context& owner, std::uint64_t bytes, Attempt&& attempt) {
  auto found = attempt();
  if (!found && !c.d.being_freed.empty()) {
    c.d.streams.wait_for_all(c.guard, owner);
    found = attempt();
  }
  if (!found) refuse_memory(c, owner.on(), bytes);
  return *found;
}

// The address is the graph's own: it is the same in every launch.
CUdeviceptr allocate_in_capture(call& c, const memory_pool& from, stream& in, std::size_t bytes) {
  CUDA_MEM_ALLOC_NODE_PARAMS_v2 wanted{};
  wanted.poolProps = from.properties();
  wanted.bytesize = bytes;
  add_captured(c.d, in, allocation_work(c, *capture_of(in)->of->into, wanted));
  return wanted.dptr;
}

void free_in_capture(call& c, const stream_capture& state, stream& in, CUdeviceptr at) {
  add_captured(c.d, in, free_work(c, *state.of->into, at));
}

// Of what a launch of a graph left behind: the program may free it once.
std::shared_ptr<graph_memory> take_unfreed(call& c, CUdeviceptr at) {
  auto found = find_unfreed(c.d, at);
  if (!found) return nullptr;
  c.d.unfreed.erase(found);
  found->behind.reset();
  return found;
}

CUdeviceptr allocate_from(call& c, memory_pool& pool, stream& in, std::size_t bytes) {
  if (bytes == 0) return 0;  // as a device answers; cuMemAlloc refuses it
  if (capture_of(in)) return allocate_in_capture(c, pool, in, bytes);
  require_no_implicit_wait(c.d, in);
  auto& owner = in.owner().root();
  return allocate_or_wait(
      c, owner, bytes, [&] { return pool.allocate(c.d.memory, bytes, owner.id(), in.number()); });
}

CUdeviceptr allocate_at_once(call& c, std::size_t bytes, memory::allocation_kind kind) {
  require_size(bytes);
  require_safe_in_captures(c.d);
  auto& owner = *c.current();
  memory::allocation_request request;
  request.size = bytes;
  request.kind = kind;
  request.device = owner.on().ordinal();
  request.context = owner.id();
  request.created_at = call_site();
  return allocate_or_wait(c, owner, bytes, [&] { return c.d.memory.allocate(request); });
}

std::shared_ptr<memory_pool> pool_of(const call& c, const memory::allocation& of) {
  if (of.pool == 0) return nullptr;
  for (const auto& each : c.d.pools) {
    if (each->id() == of.pool) return each;
  }
  return nullptr;
}

void require_allocated(const memory::allocation& found) {
  using enum memory::allocation_kind;
  const bool is_mapped = found.kind == mapped || found.kind == mapped_host;
  require(!found.is_imported || found.pool != 0, CUDA_ERROR_INVALID_VALUE,
          "memory of another process's handle is given back with cuIpcCloseMemHandle");
  require(!is_mapped, CUDA_ERROR_INVALID_VALUE, "mapped memory is given back with cuMemUnmap");
  require(found.kind != variable && found.kind != registered, CUDA_ERROR_INVALID_VALUE,
          "this memory was not allocated, so it cannot be freed");
}

constexpr std::size_t pitch_alignment = 512;

}  // namespace

memory::allocation require_base(const call& c, CUdeviceptr at) {
  const auto found = c.d.memory.find_live(at);
  require(!c.d.graph_memories.contains(at), CUDA_ERROR_INVALID_VALUE,
          "the memory is of a graph, and no launch has left it to be freed");
  if (found && found->base == at && !c.d.being_freed.contains(found->sequence)) return *found;
  const auto nearest = c.d.memory.nearest(at);
  std::string text = report::hexadecimal(at);
  if (found && found->base != at) {
    text += " lies inside an allocation, which begins at " + report::hexadecimal(found->base);
  } else if (found || (nearest && nearest->base == at)) {
    text += " was freed already";
    if (nearest && !nearest->freed_at.empty()) text += ", at " + nearest->freed_at;
    tell_freed(c.d, report::fault_kind::double_free, text);
  } else {
    text += " was not allocated by this driver";
  }
  refuse(CUDA_ERROR_INVALID_VALUE, text);
}

CUresult cuMemAlloc(CUdeviceptr* dptr, size_t bytesize) noexcept {
  return answer([&](call& c) {
    require_outputs(dptr);
    *dptr = allocate_at_once(c, bytesize, memory::allocation_kind::device);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytesize, unsigned int flags) noexcept {
  return answer([&](call& c) {
    require_outputs(dptr);
    require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST, CUDA_ERROR_INVALID_VALUE,
            "the flags of managed memory are CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST");
    *dptr = allocate_at_once(c, bytesize, memory::allocation_kind::managed);
  });
}

CUresult cuMemAllocPitch(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes, size_t Height,
                         unsigned int ElementSizeBytes) noexcept {
  return answer([&](call& c) {
    require_outputs(dptr, pPitch);
    require(ElementSizeBytes == 4 || ElementSizeBytes == 8 || ElementSizeBytes == 16,
            CUDA_ERROR_INVALID_VALUE, "the element size is 4, 8 or 16 bytes");
    const auto pitch = (WidthInBytes + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
    *dptr = allocate_at_once(c, pitch * Height, memory::allocation_kind::device);
    *pPitch = pitch;
  });
}

CUresult cuMemFree(CUdeviceptr dptr) noexcept {
  return answer([&](call& c) {
    if (dptr == 0) return;
    require_safe_in_captures(c.d);
    c.require_current_alive();
    if (const auto left = take_unfreed(c, dptr)) {
      c.d.streams.wait_for_all(c.guard, *c.current());
      c.d.memory.deactivate(dptr, {0, call_site()});
      return;
    }
    const auto found = require_base(c, dptr);
    require(found.kind != memory::allocation_kind::pinned || found.pool != 0,
            CUDA_ERROR_INVALID_VALUE, "pinned host memory is freed with cuMemFreeHost");
    require_allocated(found);
    auto& owner = *c.current();
    c.d.being_freed.insert(found.sequence);
    c.d.streams.wait_for_all(c.guard, owner);
    c.d.being_freed.erase(found.sequence);
    if (const auto pool = pool_of(c, found)) pool->deallocate(found.size);
    c.d.managed.erase(found);
    c.d.memory.release(dptr, {0, call_site()});
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) noexcept {
  return answer([&](call& c) {
    require_outputs(dptr);
    const auto in = c.stream_of(hStream);
    *dptr = allocate_from(c, *current_pool(c.d, in->owner().on()), *in, bytesize);
  });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool pool,
                                 CUstream hStream) noexcept {
  return answer([&](call& c) {
    require_outputs(dptr);
    const auto from = c.find<memory_pool>(pool, CUDA_ERROR_INVALID_VALUE);
    require(!from->is_imported(), CUDA_ERROR_INVALID_VALUE,
            "the pool was imported: only the process that made it allocates from it");
    *dptr = allocate_from(c, *from, *c.stream_of(hStream), bytesize);
  });
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) noexcept {
  return answer([&](call& c) {
    const auto in = c.stream_of(hStream);
    if (dptr == 0) return;
    if (const auto* const state = capture_of(*in)) return free_in_capture(c, *state, *in, dptr);
    require_no_implicit_wait(c.d, *in);
    require_safe_in_captures(c.d);
    if (auto left = take_unfreed(c, dptr)) {
      c.submit(*in, make_disappearance(std::move(left), call_site()));
      return;
    }
    const auto found = require_base(c, dptr);
    require_allocated(found);
    c.d.being_freed.insert(found.sequence);
    c.d.managed.erase(found);
    c.submit(*in,
             std::make_shared<free_memory>(found, pool_of(c, found), in->number(), call_site()));
  });
}

CUresult cuMemGetInfo(size_t* free, size_t* total) noexcept {
  return answer([&](call& c) {
    require_outputs(free, total);
    const int device = c.current()->on().ordinal();
    const auto usage = c.d.memory.device_usage(device);
    std::uint64_t cached = 0;  // held by pools, but in no allocation
    for (const auto& each : c.d.pools) {
      if (each->is_device_pool() && each->home() == device) cached += each->reserved - each->used;
    }
    const auto taken = usage.used + cached;
    *total = usage.capacity;
    *free = taken < usage.capacity ? usage.capacity - taken : 0;
  });
}

CUresult cuMemGetAddressRange(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr) noexcept {
  return answer([&](call& c) {
    const auto found = c.d.memory.find_reserved_or_live(dptr);
    require(found.has_value(), CUDA_ERROR_NOT_FOUND, "no allocation holds this address");
    if (pbase) *pbase = found->base;
    if (psize) *psize = found->size;
  });
}

}  // namespace halfwarp::emulator::api
