// SPDX-License-Identifier: Apache-2.0
// Streams: owned ones, foreign ones, and the two tokens of default streams.
#include "core/stream.hpp"

#include <utility>

namespace halfwarp::core {

stream_handle create_stream(const context_ref& context, unsigned flags, int priority) {
  const CUdevice device = context.facts().device;
  if (const CUgreenCtx green = context.facts().green) {
    return stream_handle::own(
        context_instance{context.share()}, stream_facts{device, static_cast<int>(flags), priority},
        [=](CUstream* raw) {
          driver::call(driver::table->cuGreenCtxStreamCreate, raw, green, flags, priority);
        });
  }
  const current_scope scope{context.raw()};
  return stream_handle::own(
      context_instance{context.share()}, stream_facts{device, static_cast<int>(flags), priority},
      [flags, priority](CUstream* raw) {
        driver::call(driver::table->cuStreamCreateWithPriority, raw, flags, priority);
      });
}

stream_handle stream_of(CUstream raw, keep_alive owner) {
  if (!is_default_stream(raw)) {
    if (stream_handle match = stream_handle::find(raw)) return match;
  }
  return stream_handle::borrow(raw, {}, {}, std::move(owner));
}

context_handle context_of(const stream_ref& stream) {
  if (stream.parent()) return stream.parent().context();
  if (is_default_stream(stream.raw())) return current_context();
  CUcontext raw = nullptr;
  driver::call(driver::table->cuStreamGetCtx, stream.raw(), &raw);
  return context_of(raw);
}

bool is_nonblocking(const stream_ref& stream) {
  const stream_facts& facts = stream.facts();
  int flags = facts.flags.load(std::memory_order_relaxed);
  if (flags == stream_facts::unknown) {
    unsigned value = 0;
    driver::call(driver::table->cuStreamGetFlags, stream.raw(), &value);
    flags = static_cast<int>(value);
    if (!is_default_stream(stream.raw())) facts.flags.store(flags, std::memory_order_relaxed);
  }
  return (flags & CU_STREAM_NON_BLOCKING) != 0;
}

int priority_of(const stream_ref& stream) {
  const stream_facts& facts = stream.facts();
  if (facts.has_priority.load(std::memory_order_acquire)) {
    return facts.priority.load(std::memory_order_relaxed);
  }
  int priority = 0;
  driver::call(driver::table->cuStreamGetPriority, stream.raw(), &priority);
  if (!is_default_stream(stream.raw())) {
    facts.priority.store(priority, std::memory_order_relaxed);
    facts.has_priority.store(true, std::memory_order_release);
  }
  return priority;
}

void invalidate_priority(const stream_ref& stream) noexcept {
  stream.facts().has_priority.store(false, std::memory_order_release);
}

event_handle record_event(const stream_ref& stream, unsigned flags) {
  const gil_release_if_held released;
  context_instance context = stream.parent();
  if (!context) context = context_instance{context_of(stream)};
  if (!context) return {};
  return record_event(std::move(context), stream.raw(), flags);
}

event_handle record_event(context_instance context, CUstream raw, unsigned flags) {
  const current_scope scope{context.raw()};
  // Creates and records in one step: if the stream was destroyed with its context, the event
  // belongs to the new context, and is destroyed here.
  return event_handle::own(std::move(context), event_facts{flags}, [flags, raw](CUevent* event) {
    driver::call(driver::table->cuEventCreate, event, flags);
    const CUresult code = driver::try_call(driver::table->cuEventRecord, *event, raw);
    if (code == CUDA_SUCCESS) return;
    static_cast<void>(driver::try_call(driver::table->cuEventDestroy, *event));
    throw driver::driver_error{code, "cuEventRecord"};
  });
}

void wait_for_stream(const stream_ref& later, const stream_ref& earlier) {
  if (later.raw() == earlier.raw()) return;  // a stream is always in order with itself
  const gil_release_if_held released;
  event_handle reached = earlier.parent() ? earlier.facts().mark.take() : event_handle{};
  if (reached) {
    driver::call(driver::table->cuEventRecord, reached.raw(), earlier.raw());
  } else {
    reached = record_event(earlier, CU_EVENT_DISABLE_TIMING);
    if (!reached) throw driver::driver_error{CUDA_ERROR_INVALID_CONTEXT, "cuEventCreate"};
  }
  driver::call(driver::table->cuStreamWaitEvent, later.raw(), reached.raw(), 0u);
  if (earlier.parent()) earlier.facts().mark.put(std::move(reached));
}

bool enter_context_of(const stream_ref& stream) noexcept {
  CUcontext own = stream.parent().raw(), current = nullptr;
  if (own == nullptr) {
    if (is_default_stream(stream.raw())) return false;
    const CUresult code = driver::try_call(driver::table->cuStreamGetCtx, stream.raw(), &own);
    if (code != CUDA_SUCCESS) return false;
  }
  return driver::try_call(driver::table->cuCtxGetCurrent, &current) == CUDA_SUCCESS &&
         current != own && driver::try_call(driver::table->cuCtxPushCurrent, own) == CUDA_SUCCESS;
}

}  // namespace halfwarp::core
