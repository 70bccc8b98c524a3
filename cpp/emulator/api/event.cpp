// SPDX-License-Identifier: Apache-2.0
// Events: recording, asking, waiting, timing.
#include "emulator/stream/event.hpp"

#include <chrono>

#include "emulator/api/call.hpp"
#include "emulator/api/sharing/sharing_call.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr unsigned known_flags =
    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

void record(call& c, CUevent raw, CUstream in, bool is_external = false) {
  const auto target = c.stream_of(in);
  const auto recorded = c.find<event>(raw);
  require(&recorded->owner() == &target->owner().root(), CUDA_ERROR_INVALID_HANDLE,
          "the event and the stream belong to different contexts");
  if (is_external && capture_of(*target)) {
    add_captured(c.d, *target, {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .recorded = recorded});
  } else {
    c.record(*recorded, *target);
  }
}

void require_not_captured(call& c, event& asked) {
  if (asked.captured && !asked.captured->of->is_over) {
    refuse_and_invalidate(*asked.captured->of, CUDA_ERROR_CAPTURED_EVENT,
                          "the event was last recorded in a stream that is being captured");
  }
  require(!asked.captured, CUDA_ERROR_CAPTURED_EVENT,
          "the event was last recorded in a capture, which recorded nothing");
  require_safe_in_captures(c.d);
}

}  // namespace

CUresult cuEventCreate(CUevent* phEvent, unsigned int Flags) noexcept {
  return answer([&](call& c) {
    require_outputs(phEvent);
    require((Flags & ~known_flags) == 0, CUDA_ERROR_INVALID_VALUE,
            "these are no flags of an event");
    require(!(Flags & CU_EVENT_INTERPROCESS) || (Flags & CU_EVENT_DISABLE_TIMING),
            CUDA_ERROR_INVALID_VALUE, "an interprocess event must have its timing disabled");
    const bool is_shared = Flags & CU_EVENT_INTERPROCESS;
    auto between_processes = is_shared ? sharing::event_state::make() : nullptr;
    if (is_shared && !between_processes) refuse_by_system("an event between processes");
    *phEvent = c.d.objects.make<event>(c.current(), Flags, std::move(between_processes))
                   ->handle_as<CUevent>();
  });
}

CUresult cuEventDestroy(CUevent hEvent) noexcept {
  return answer([&](call& c) { c.d.objects.remove(*c.find_to_destroy<event>(hEvent)); });
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream) noexcept {
  return answer([&](call& c) { record(c, hEvent, hStream); });
}

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) noexcept {
  return answer([&](call& c) {
    require(flags == CU_EVENT_RECORD_DEFAULT || flags == CU_EVENT_RECORD_EXTERNAL,
            CUDA_ERROR_INVALID_VALUE, "the flags are CU_EVENT_RECORD_DEFAULT or _EXTERNAL");
    record(c, hEvent, hStream, flags == CU_EVENT_RECORD_EXTERNAL);
  });
}

CUresult cuEventQuery(CUevent hEvent) noexcept {
  return answer([&](call& c) {
    const auto asked = c.find<event>(hEvent);
    require_not_captured(c, *asked);
    if (const auto number = asked->recorded_elsewhere()) {
      const auto now = asked->shared->of(number);
      if (now == sharing::progress::pending) return CUDA_ERROR_NOT_READY;
      if (now == sharing::progress::lost) return wait_elsewhere(*asked->shared, number).code;
      return asked->owner().take_failure();
    }
    if (!asked->last) return CUDA_SUCCESS;
    if (!c.d.streams.poll(c.guard, asked->last->at)) return CUDA_ERROR_NOT_READY;
    return asked->owner().take_failure();
  });
}

CUresult cuEventSynchronize(CUevent hEvent) noexcept {
  return answer([&](call& c) {
    const auto waited = c.find<event>(hEvent);
    require_not_captured(c, *waited);
    if (const auto number = waited->recorded_elsewhere()) {
      c.guard.unlock();
      const auto result = wait_elsewhere(*waited->shared, number);
      c.guard.lock();
      return result ? result.code : waited->owner().take_failure();
    }
    if (!waited->last) return CUDA_SUCCESS;
    return c.wait(waited->last->at, waited->owner());
  });
}

CUresult cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd) noexcept {
  return answer([&](call& c) {
    require_outputs(pMilliseconds);
    const auto start = c.find<event>(hStart), end = c.find<event>(hEnd);
    require(start->has_timing() && end->has_timing(), CUDA_ERROR_INVALID_HANDLE,
            "an event that was made with CU_EVENT_DISABLE_TIMING keeps no time");
    require(start->last && end->last, CUDA_ERROR_INVALID_HANDLE, "an event was never recorded");
    require(&start->owner().on() == &end->owner().on(), CUDA_ERROR_INVALID_HANDLE,
            "the events are of two devices, whose clocks do not agree");
    if (!start->last->is_reached || !end->last->is_reached) return CUDA_ERROR_NOT_READY;
    using milliseconds = std::chrono::duration<float, std::milli>;
    *pMilliseconds = milliseconds{end->last->reached - start->last->reached}.count();
    return CUDA_SUCCESS;
  });
}

}  // namespace halfwarp::emulator::api
