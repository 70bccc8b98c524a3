// SPDX-License-Identifier: Apache-2.0
// Creates and destroys contexts; context stacks, limits, peer access, synchronization.
#include <utility>

#include "emulator/api/call.hpp"
#include "emulator/driver/context_life.hpp"
#include "emulator/stream/event.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr int greatest_priority = -5, least_priority = 0;

void create(CUcontext* out, unsigned flags, CUdevice ordinal) {
  call c;
  require_outputs(out);
  require_context_flags(flags);
  const auto created = c.d.objects.make<context>(c.device_of(ordinal), flags, false);
  this_thread().contexts.push_back(created);
  *out = created->handle_as<CUcontext>();
}

// Returns whether the emulator has a limit. Other limits can be neither set nor queried.
bool has_limit(CUlimit limit) {
  return limit == CU_LIMIT_STACK_SIZE || limit == CU_LIMIT_PRINTF_FIFO_SIZE ||
         limit == CU_LIMIT_MALLOC_HEAP_SIZE || limit == CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT;
}

void require_limit(CUlimit limit) {
  require(limit >= 0 && limit < CU_LIMIT_MAX, CUDA_ERROR_INVALID_VALUE, "cuda.h has no such limit");
  require(has_limit(limit), CUDA_ERROR_UNSUPPORTED_LIMIT, "the emulator does not have this limit");
}

}  // namespace

void require_context_flags(unsigned flags) {
  const unsigned schedule = flags & CU_CTX_SCHED_MASK;
  const bool is_known = schedule == CU_CTX_SCHED_AUTO || schedule == CU_CTX_SCHED_SPIN ||
                        schedule == CU_CTX_SCHED_YIELD || schedule == CU_CTX_SCHED_BLOCKING_SYNC;
  require(is_known && (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0,
          CUDA_ERROR_INVALID_VALUE, "the flags are invalid for a context");
}

CUresult cuCtxCreate(CUcontext* pctx, CUctxCreateParams* ctxCreateParams, unsigned int flags,
                     CUdevice dev) noexcept {
  return run_unlocked([&] {
    const bool is_plain = !ctxCreateParams || (ctxCreateParams->numExecAffinityParams == 0 &&
                                               !ctxCreateParams->cigParams);
    require(is_plain, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
            "the emulator has no execution affinity and no graphics contexts");
    create(pctx, flags, dev);
  });
}

CUresult cuCtxCreate_v3(CUcontext* pctx, CUexecAffinityParam*, int numParams, unsigned int flags,
                        CUdevice dev) noexcept {
  return run_unlocked([&] {
    require(numParams == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
            "the emulator has no execution affinity");
    create(pctx, flags, dev);
  });
}

CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned int flags, CUdevice dev) noexcept {
  return run_unlocked([&] { create(pctx, flags, dev); });
}

CUresult cuCtxDestroy(CUcontext ctx) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.context_of(ctx);
    require(!target->is_primary(), CUDA_ERROR_INVALID_CONTEXT,
            "a primary context is released with cuDevicePrimaryCtxRelease");
    require(!target->is_green(), CUDA_ERROR_INVALID_CONTEXT,
            "a green context is destroyed with cuGreenCtxDestroy");
    c.d.objects.remove(*target);
    end_context(c.d, c.guard, *target);
    auto& stack = this_thread().contexts;
    if (!stack.empty() && stack.back() == target) stack.pop_back();
  });
}

CUresult cuCtxGetCurrent(CUcontext* pctx) noexcept {
  return run_unlocked([&] {
    require_outputs(pctx);
    const auto& stack = this_thread().contexts;
    *pctx = stack.empty() ? nullptr : stack.back()->handle_as<CUcontext>();
  });
}

CUresult cuCtxSetCurrent(CUcontext ctx) noexcept {
  return run_locked([&](call& c) {
    auto& stack = this_thread().contexts;
    const auto next = ctx ? c.context_of(ctx) : nullptr;
    if (!stack.empty()) stack.pop_back();
    if (next) stack.push_back(next);
  });
}

CUresult cuCtxPushCurrent(CUcontext ctx) noexcept {
  // A primary context is checked when it is used: it may be created again before.
  return run_locked([&](call& c) {
    const auto match = c.find<context>(ctx, CUDA_ERROR_INVALID_CONTEXT);
    this_thread().contexts.push_back(match->is_primary() ? match : c.context_of(ctx));
  });
}

CUresult cuCtxPopCurrent(CUcontext* pctx) noexcept {
  return run_unlocked([&] {
    auto& stack = this_thread().contexts;
    require(!stack.empty(), CUDA_ERROR_INVALID_CONTEXT, "no context is current in this thread");
    if (pctx) *pctx = stack.back()->handle_as<CUcontext>();
    stack.pop_back();
  });
}

CUresult cuCtxGetDevice(CUdevice* device) noexcept {
  return run_locked([&](call& c) {
    require_outputs(device);
    *device = c.current()->device().ordinal();
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx) noexcept {
  return run_locked([&](call& c) {
    require_outputs(device);
    *device = (ctx ? c.context_of(ctx) : c.current())->device().ordinal();
  });
}

CUresult cuCtxGetFlags(unsigned int* flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(flags);
    *flags = c.current()->flags;
  });
}

CUresult cuCtxSetFlags(unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require_context_flags(flags);
    c.current()->flags = flags;
  });
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long* ctxId) noexcept {
  return run_locked([&](call& c) {
    require_outputs(ctxId);
    *ctxId = (ctx ? c.context_of(ctx) : c.current_or_green())->unique_id();
  });
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int* version) noexcept {
  return run_locked([&](call& c) {
    require_outputs(version);
    *version = (ctx ? c.context_of(ctx) : c.current())->api_version;
  });
}

CUresult cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) noexcept {
  return run_locked([&](call& c) {
    c.current();
    if (leastPriority) *leastPriority = least_priority;
    if (greatestPriority) *greatestPriority = greatest_priority;
  });
}

CUresult cuCtxSynchronize() noexcept {
  return run_locked([](call& c) {
    const auto owner = c.current_or_green();
    require_nothing_captures(c.d, *owner);
    return c.wait_for_all(*owner);
  });
}

CUresult cuCtxSynchronize_v2(CUcontext ctx) noexcept {
  return run_locked([&](call& c) {
    const auto owner = ctx ? c.context_of(ctx) : c.current_or_green();
    require_nothing_captures(c.d, *owner);
    return c.wait_for_all(*owner);
  });
}

CUresult cuCtxGetLimit(size_t* pvalue, CUlimit limit) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pvalue);
    require_limit(limit);
    *pvalue = c.current()->limits[limit];
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) noexcept {
  return run_locked([&](call& c) {
    require_limit(limit);
    auto& owner = *c.current();
    require(limit != CU_LIMIT_MALLOC_HEAP_SIZE || owner.heap.set_limit(value),
            CUDA_ERROR_INVALID_VALUE,
            "a kernel has used the heap, whose size is final then; set the limit before");
    if (limit == CU_LIMIT_STACK_SIZE) owner.stack_bytes = value;
    owner.limits[limit] = value;
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* pconfig) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pconfig);
    *pconfig = c.current()->cache_preference;
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) noexcept {
  return run_locked([&](call& c) {
    require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL,
            CUDA_ERROR_INVALID_VALUE, "cuda.h has no such cache preference");
    c.current()->cache_preference = config;
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) noexcept {
  return run_locked([&](call& c) {
    require(Flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags must be 0");
    const auto from = c.current();
    const auto owner = c.context_of(peerContext);
    require(&from->device() != &owner->device(), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
            "a device cannot be its own peer");
    require(from->peers.insert(owner->id()).second, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
            "peer access is already enabled");
    c.d.memory.set_peer_access(from->device().ordinal(), owner->device().ordinal(), true);
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext) noexcept {
  return run_locked([&](call& c) {
    const auto from = c.current();
    const auto owner = c.context_of(peerContext);
    require(from->peers.erase(owner->id()) == 1, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
            "peer access is not enabled");
    c.d.memory.set_peer_access(from->device().ordinal(), owner->device().ordinal(), false);
  });
}

}  // namespace halfwarp::emulator::api
