// SPDX-License-Identifier: Apache-2.0
// Creates, records, queries and times events.
#include "emulator/stream/event.hpp"

#include <chrono>

#include "emulator/api/graph/graph_call.hpp"
#include "emulator/api/sharing/sharing_call.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr unsigned known_flags =
    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

void record(call& c, CUevent raw, CUstream stream_handle, bool is_external = false) {
  const auto target = c.stream_of(stream_handle);
  const auto recorded = c.find<event>(raw);
  require(&recorded->owner() == &target->owner().root(), CUDA_ERROR_INVALID_HANDLE,
          "the event and the stream belong to different contexts");
  if (is_external && capture_of(*target)) {
    add_captured(c.d, *target, event_work(CU_GRAPH_NODE_TYPE_EVENT_RECORD, recorded));
  } else {
    c.record(*recorded, *target);
  }
}

void require_not_captured(call& c, event& target) {
  if (target.captured && !target.captured->capture->is_over) {
    refuse_and_invalidate(*target.captured->capture, CUDA_ERROR_CAPTURED_EVENT,
                          "the event was last recorded in a stream that is being captured");
  }
  require(!target.captured, CUDA_ERROR_CAPTURED_EVENT,
          "the event was last recorded in a capture, so it has no recording");
  require_safe_in_captures(c.d);
}

}  // namespace

CUresult cuEventCreate(CUevent* phEvent, unsigned int Flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(phEvent);
    require((Flags & ~known_flags) == 0, CUDA_ERROR_INVALID_VALUE,
            "the flags are invalid for an event");
    require(!(Flags & CU_EVENT_INTERPROCESS) || (Flags & CU_EVENT_DISABLE_TIMING),
            CUDA_ERROR_INVALID_VALUE, "an interprocess event must have its timing disabled");
    const bool is_shared = Flags & CU_EVENT_INTERPROCESS;
    auto shared_state = is_shared ? sharing::event_state::make() : nullptr;
    if (is_shared && !shared_state) refuse_by_system("an interprocess event");
    *phEvent =
        c.d.objects.make<event>(c.current(), Flags, std::move(shared_state))->handle_as<CUevent>();
  });
}

CUresult cuEventDestroy(CUevent hEvent) noexcept {
  return run_locked([&](call& c) { c.d.objects.remove(*c.find_to_destroy<event>(hEvent)); });
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream) noexcept {
  return run_locked([&](call& c) { record(c, hEvent, hStream); });
}

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require(flags == CU_EVENT_RECORD_DEFAULT || flags == CU_EVENT_RECORD_EXTERNAL,
            CUDA_ERROR_INVALID_VALUE, "the flags are CU_EVENT_RECORD_DEFAULT or _EXTERNAL");
    record(c, hEvent, hStream, flags == CU_EVENT_RECORD_EXTERNAL);
  });
}

CUresult cuEventQuery(CUevent hEvent) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.find<event>(hEvent);
    require_not_captured(c, *target);
    if (const auto number = target->remote_recording()) {
      const auto state = target->shared->of(number);
      if (state == sharing::progress::pending) return CUDA_ERROR_NOT_READY;
      if (state == sharing::progress::lost)
        return wait_for_remote_recording(*target->shared, number).code;
      return target->owner().take_failure();
    }
    if (!target->last) return CUDA_SUCCESS;
    if (!c.d.streams.poll(c.guard, target->last->point)) return CUDA_ERROR_NOT_READY;
    return target->owner().take_failure();
  });
}

CUresult cuEventSynchronize(CUevent hEvent) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.find<event>(hEvent);
    require_not_captured(c, *target);
    if (const auto number = target->remote_recording()) {
      c.guard.unlock();
      const auto result = wait_for_remote_recording(*target->shared, number);
      c.guard.lock();
      return result ? result.code : target->owner().take_failure();
    }
    if (!target->last) return CUDA_SUCCESS;
    return c.wait(target->last->point, target->owner());
  });
}

CUresult cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pMilliseconds);
    const auto start = c.find<event>(hStart), end = c.find<event>(hEnd);
    require(start->has_timing() && end->has_timing(), CUDA_ERROR_INVALID_HANDLE,
            "an event created with CU_EVENT_DISABLE_TIMING records no time");
    require(start->last && end->last, CUDA_ERROR_INVALID_HANDLE, "an event was never recorded");
    require(&start->owner().device() == &end->owner().device(), CUDA_ERROR_INVALID_HANDLE,
            "the events belong to different devices, whose clocks differ");
    if (!start->last->is_reached || !end->last->is_reached) return CUDA_ERROR_NOT_READY;
    using milliseconds = std::chrono::duration<float, std::milli>;
    *pMilliseconds = milliseconds{end->last->reached - start->last->reached}.count();
    return CUDA_SUCCESS;
  });
}

}  // namespace halfwarp::emulator::api
