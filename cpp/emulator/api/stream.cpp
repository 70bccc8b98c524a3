// SPDX-License-Identifier: Apache-2.0
// Creates, queries and synchronizes streams; enqueues host functions.
#include "emulator/stream/stream.hpp"

#include <algorithm>
#include <utility>

#include "emulator/api/graph/graph_call.hpp"
#include "emulator/stream/event.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr int greatest_priority = -5, least_priority = 0;

void create(CUstream* out, unsigned flags, int priority) {
  call c;
  require_outputs(out);
  require(flags == CU_STREAM_DEFAULT || flags == CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE,
          "the flags of a stream are CU_STREAM_DEFAULT or CU_STREAM_NON_BLOCKING");
  *out = create_stream(c, c.current_or_green(), flags, priority);
}

}  // namespace

CUstream create_stream(call& c, const std::shared_ptr<context>& owner, unsigned flags,
                       int priority) {
  const auto target = c.d.objects.make<stream>(
      owner, stream_role::created, flags, std::clamp(priority, greatest_priority, least_priority));
  if (!owner->gate.empty()) c.submit(*target, std::make_shared<marker>(), owner->gate);
  return target->handle_as<CUstream>();
}

CUresult cuStreamCreate(CUstream* phStream, unsigned int Flags) noexcept {
  return run_unlocked([&] { create(phStream, Flags, least_priority); });
}

CUresult cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) noexcept {
  return run_unlocked([&] { create(phStream, flags, priority); });
}

// Queued work continues: the stream object lives until its queue is empty.
CUresult cuStreamDestroy(CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.find_to_destroy<stream>(hStream);
    leave_capture(c.d, *target);
    c.d.objects.remove(*target);
  });
}

CUresult cuStreamSynchronize(CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.stream_of(hStream);
    require_not_capturing(c.d, *target);
    require_safe_in_captures(c.d);
    return c.wait(target->end(), target->owner());
  });
}

CUresult cuStreamQuery(CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.stream_of(hStream);
    require_not_capturing(c.d, *target);
    if (!c.d.streams.poll(c.guard, target->end())) return CUDA_ERROR_NOT_READY;
    return target->owner().take_failure();
  });
}

CUresult cuStreamGetPriority(CUstream hStream, int* priority) noexcept {
  return run_locked([&](call& c) {
    require_outputs(priority);
    *priority = c.stream_of(hStream)->priority();
  });
}

namespace {

void require_attribute(CUstreamAttrID id) {
  require(launch_attributes::applies_to_streams(id), CUDA_ERROR_INVALID_VALUE,
          "streams have no such attribute");
}

}  // namespace

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr,
                              CUstreamAttrValue* value_out) noexcept {
  return run_locked([&](call& c) {
    require_outputs(value_out);
    const auto target = c.stream_of(hStream);
    require_attribute(attr);
    *value_out = target->attributes.get(attr);
    if (attr == CU_LAUNCH_ATTRIBUTE_PRIORITY) value_out->priority = target->priority();
  });
}

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                              const CUstreamAttrValue* value) noexcept {
  return run_locked([&](call& c) {
    require_outputs(value);
    const auto target = c.stream_of(hStream);
    require_attribute(attr);
    const auto reason = launch_attributes::refusal(attr, *value);
    if (!reason.empty()) refuse(CUDA_ERROR_INVALID_VALUE, reason);
    if (attr == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
      target->set_priority(std::clamp(value->priority, greatest_priority, least_priority));
    } else {
      target->attributes.set(attr, *value);
    }
  });
}

CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) noexcept {
  return run_locked([&](call& c) {
    const auto to = c.stream_of(dst), from = c.stream_of(src);
    to->attributes = from->attributes;
  });
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int* flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(flags);
    *flags = c.stream_of(hStream)->flags();
  });
}

CUresult cuStreamGetId(CUstream hStream, unsigned long long* streamId) noexcept {
  return run_locked([&](call& c) {
    require_outputs(streamId);
    const auto target = c.stream_of(hStream);
    // Legacy default streams of different contexts must have different ids.
    *streamId = target->is_legacy() ? target->owner().unique_id() << 32 : target->id();
  });
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext* pctx) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pctx);
    *pctx = c.stream_of(hStream)->owner().handle_as<CUcontext>();
  });
}

CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pCtx);
    const auto& owner = c.stream_of(hStream)->owner();
    *pCtx = owner.root().handle_as<CUcontext>();
    if (pGreenCtx) *pGreenCtx = owner.green_handle;
  });
}

CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx* phCtx) noexcept {
  return run_locked([&](call& c) {
    require_outputs(phCtx);
    *phCtx = c.stream_of(hStream)->owner().green_handle;
  });
}

CUresult cuStreamGetDevice(CUstream hStream, CUdevice* device) noexcept {
  return run_locked([&](call& c) {
    require_outputs(device);
    *device = c.stream_of(hStream)->owner().device().ordinal();
  });
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) noexcept {
  return run_locked([&](call& c) {
    require(Flags == CU_EVENT_WAIT_DEFAULT || Flags == CU_EVENT_WAIT_EXTERNAL,
            CUDA_ERROR_INVALID_VALUE, "the flags of a wait are CU_EVENT_WAIT_DEFAULT or _EXTERNAL");
    const auto target = c.stream_of(hStream);
    const auto source = c.find<event>(hEvent);
    if (Flags == CU_EVENT_WAIT_EXTERNAL && capture_of(*target)) {
      add_captured(c.d, *target, event_work(CU_GRAPH_NODE_TYPE_WAIT_EVENT, source));
      return;
    }
    if (source->captured) return wait_for_captured(c.d, *target, *source->captured);
    if (auto* const state = capture_of(*target); state && source->last) {
      refuse_and_invalidate(*state->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                            "the event was recorded outside of the capture");
    }
    std::vector<stream_point> points;
    if (auto wait = make_wait(*source, points, c.d.streams.hazards() != nullptr)) {
      c.submit(*target, std::move(wait), std::move(points));
    }
  });
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) noexcept {
  return run_locked([&](call& c) {
    require(fn != nullptr, CUDA_ERROR_INVALID_VALUE, "the host function is null");
    c.submit(*c.stream_of(hStream), std::make_shared<host_call>(fn, userData));
  });
}

// Validates and ignores the wait mode.
CUresult cuLaunchHostFunc_v2(CUstream hStream, CUhostFn fn, void* userData,
                             unsigned int syncMode) noexcept {
  if (syncMode > CU_HOST_TASK_SPINWAIT) return CUDA_ERROR_INVALID_VALUE;
  return api::cuLaunchHostFunc(hStream, fn, userData);
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void* userData,
                             unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require(callback != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE,
            "the callback is null, or the flags are not 0");
    const auto target = c.stream_of(hStream);
    if (const auto* const state = capture_of(*target)) {
      refuse_and_invalidate(*state->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                            "cuStreamAddCallback cannot be captured");
    }
    c.submit(*target, std::make_shared<stream_callback>(hStream, callback, userData));
  });
}

}  // namespace halfwarp::emulator::api
