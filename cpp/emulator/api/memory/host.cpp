// SPDX-License-Identifier: Apache-2.0
// Host memory that devices can access: pinned or registered.
#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/object/current_call.hpp"

namespace halfwarp::emulator::api {
namespace {

using enum memory::allocation_kind;

constexpr unsigned allocation_flags =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;

void allocate_pinned(call& c, void** out, std::size_t bytes) {
  require_outputs(out);
  require_safe_in_captures(c.d);
  const auto& owner = *c.current();
  *out = nullptr;
  if (bytes == 0) return;  // as a device does
  memory::allocation_request request;
  request.size = bytes;
  request.kind = pinned;
  request.device = owner.device().ordinal();
  request.context = owner.id();
  request.created_at = call_site();
  const auto address = c.d.memory.allocate(request);
  require(address.has_value(), CUDA_ERROR_OUT_OF_MEMORY,
          "the address space for pinned memory is exhausted");
  *out = reinterpret_cast<void*>(*address);
}

memory::allocation find_host(const call& c, const void* address) {
  const auto match = c.d.memory.find_live(reinterpret_cast<memory::address>(address));
  require(match && (match->kind == pinned || match->kind == registered), CUDA_ERROR_INVALID_VALUE,
          "this is neither pinned nor registered host memory");
  return *match;
}

}  // namespace

CUresult cuMemAllocHost(void** pp, size_t bytesize) noexcept {
  return run_locked([&](call& c) { allocate_pinned(c, pp, bytesize); });
}

CUresult cuMemHostAlloc(void** pp, size_t bytesize, unsigned int Flags) noexcept {
  return run_locked([&](call& c) {
    require((Flags & ~allocation_flags) == 0, CUDA_ERROR_INVALID_VALUE,
            "the flags are invalid for cuMemHostAlloc");
    allocate_pinned(c, pp, bytesize);
  });
}

CUresult cuMemFreeHost(void* p) noexcept {
  return run_locked([&](call& c) {
    if (p == nullptr) return;
    require_safe_in_captures(c.d);
    c.require_current_alive();
    const auto address = reinterpret_cast<CUdeviceptr>(p);
    const auto allocation = require_base(c, address);
    require(allocation.kind == pinned, CUDA_ERROR_INVALID_VALUE,
            "cuMemFreeHost frees memory of cuMemAllocHost and cuMemHostAlloc only");
    // Needs no current context, as on a device: the allocation records its context.
    const auto owner = c.d.objects.find<context>(
        reinterpret_cast<CUcontext>(handle::encode(object_kind::context, allocation.context)));
    c.d.being_freed.insert(allocation.sequence);
    if (owner) c.d.streams.wait_for_all(c.guard, *owner);
    c.d.being_freed.erase(allocation.sequence);
    c.d.memory.release(address, {0, call_site()});
  });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* pdptr, void* p, unsigned int Flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pdptr);
    require(Flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags must be 0");
    find_host(c, p);
    *pdptr = reinterpret_cast<CUdeviceptr>(p);
  });
}

CUresult cuMemHostGetFlags(unsigned int* pFlags, void* p) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pFlags);
    find_host(c, p);
    *pFlags = CU_MEMHOSTALLOC_DEVICEMAP;
  });
}

CUresult cuMemHostRegister(void* p, size_t bytesize, unsigned int Flags) noexcept {
  return run_locked([&](call& c) {
    require(p != nullptr && bytesize > 0, CUDA_ERROR_INVALID_VALUE,
            "the memory to register is null or empty");
    constexpr unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
    require((Flags & ~(known | CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY)) == 0,
            CUDA_ERROR_INVALID_VALUE, "the flags are invalid for cuMemHostRegister");
    require((Flags & ~known) == 0, CUDA_ERROR_NOT_SUPPORTED,
            "the emulator registers neither device I/O memory nor read-only memory");
    require_safe_in_captures(c.d);
    const auto& owner = *c.current();
    require(
        c.d.memory.register_host(p, bytesize, owner.device().ordinal(), owner.id(), call_site()),
        CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
        "part of this memory is already registered, or was allocated by the driver");
  });
}

CUresult cuMemHostUnregister(void* p) noexcept {
  return run_locked([&](call& c) {
    require(p != nullptr, CUDA_ERROR_INVALID_VALUE, "the memory to unregister is null");
    auto& owner = *c.current();
    c.d.streams.wait_for_all(c.guard, owner);
    const auto result = c.d.memory.unregister_host(p);
    require(result.status == memory::free_status::done, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
            "this address does not begin a registered range");
  });
}

}  // namespace halfwarp::emulator::api
