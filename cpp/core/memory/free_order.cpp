// SPDX-License-Identifier: Apache-2.0
// The stream order in which an allocation is freed.
#include "core/memory/free_order.hpp"

#include <new>

namespace halfwarp::core {
namespace {

// Returns a number that, unlike a thread's address or id, is never reused.
unsigned long long thread_number() noexcept {
  static std::atomic<unsigned long long> last{0};
  static thread_local const unsigned long long number =
      last.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

// Returns whether the error says that the stream was destroyed.
bool is_destroyed_stream_error(CUresult code) noexcept {
  return code == CUDA_ERROR_INVALID_HANDLE || code == CUDA_ERROR_INVALID_CONTEXT ||
         code == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

// Frees memory after all work of the context, when no stream order can be established.
CUresult free_after_all_work(const context_instance& context, CUdeviceptr pointer) noexcept {
  try {
    if (!context) return driver::try_call(driver::table->cuMemFree, pointer);
    const current_scope scope{context.raw()};
    return driver::try_call(driver::table->cuMemFree, pointer);
  } catch (const driver::driver_error& error) {
    return error.code;
  }
}

free_result free_synchronously(CUdeviceptr pointer, memory_kind kind) noexcept {
  if (kind == memory_kind::device) {
    return {driver::try_call(driver::table->cuMemFree, pointer), "cuMemFree"};
  }
  void* const host = reinterpret_cast<void*>(pointer);
  return {driver::try_call(driver::table->cuMemFreeHost, host), "cuMemFreeHost"};
}

// Frees pool memory after a reset of its context, which destroyed all streams. The free needs a
// context; without one it is deferred.
CUresult free_after_reset(const context_handle& context, CUdeviceptr pointer) noexcept {
  if (is_destroyed(context)) return CUDA_ERROR_NOT_READY;
  try {
    const current_scope scope{context.raw()};
    if (is_capturing(CU_STREAM_LEGACY)) return CUDA_ERROR_NOT_READY;
    return driver::try_call(driver::table->cuMemFreeAsync, pointer, CU_STREAM_LEGACY);
  } catch (const driver::driver_error&) {
    return CUDA_ERROR_NOT_READY;
  }
}

// Returns the context of a stream that other code created; null if it was destroyed already.
context_instance context_of_foreign(const stream_handle& stream) noexcept {
  try {
    return context_instance{context_of(stream)};
  } catch (const driver::driver_error&) {
    return {};
  }
}

}  // namespace

// A deferred free. The list is pushed and removed atomically as a whole, without a lock that a
// child process could find held. A child process skips the parent's entries.
struct free_order::deferred {
  CUdeviceptr pointer;
  memory_kind kind;
  free_order order;
  deferred* next = nullptr;

  static inline constinit std::atomic<deferred*> first{nullptr};

  void push() noexcept {
    next = first.load(std::memory_order_relaxed);
    while (!first.compare_exchange_weak(next, this, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
    has_deferred_frees.store(true, std::memory_order_relaxed);
  }
};

free_order::free_order(stream_handle stream)
    : generation_{fork_generation.load(std::memory_order_relaxed)} {
  if (is_default_stream(stream.raw())) {
    context_ = context_instance{current_context()};
    if (!context_) return;
    if (stream.raw() == CU_STREAM_PER_THREAD) {
      const gil_release_if_held released;
      recorded_ = create_event(context_, CU_EVENT_DISABLE_TIMING);
      driver::call(driver::table->cuEventRecord, recorded_.raw(), stream.raw());
      thread_ = thread_number();
    }
  } else if (!stream.parent()) {
    context_ = context_of_foreign(stream);
  }
  stream_ = std::move(stream);
}

free_order free_order::without_stream(context_instance context) noexcept {
  free_order order;
  order.generation_ = fork_generation.load(std::memory_order_relaxed);
  order.context_ = std::move(context);
  return order;
}

free_order free_order::now(stream_handle stream, context_handle context) {
  if (!context && is_default_stream(stream.raw())) context = current_context();
  free_order order = without_stream(context_instance{std::move(context)});
  order.stream_ = std::move(stream);
  return order;
}

free_result free_order::free(CUdeviceptr pointer, memory_kind kind) const noexcept {
  free_result result;
  if (pointer == 0 || !is_of_this_process()) return result;
  result.code = release([&] {
    result = attempt(pointer, kind);
    return result.code;
  });
  if (result.code == CUDA_ERROR_NOT_READY) [[unlikely]] {
    result.code = CUDA_ERROR_OUT_OF_MEMORY;
    if (auto* const entry = new (std::nothrow) deferred{pointer, kind, *this}) {
      entry->push();
      result.code = CUDA_SUCCESS;
    }
  } else {
    free_deferred_if_any();
  }
  return result;
}

free_result free_order::attempt(CUdeviceptr pointer, memory_kind kind) const noexcept {
  if (const context_instance& memory_context = context(); memory_context.is_destroyed())
      [[unlikely]] {
    return {kind == memory_kind::pool ? free_after_reset(memory_context.context(), pointer)
                                      : CUDA_SUCCESS};
  }
  if (kind != memory_kind::pool) return free_after_work(pointer, kind);
  return {is_default_stream(stream_.raw()) ? free_on_default_stream(pointer)
                                           : free_on_stream(pointer)};
}

// Tries the free before it checks for a capture: a capture of this stream survives the attempt, and
// memory of the captured graph is freed this way.
CUresult free_order::free_on_stream(CUdeviceptr pointer) const noexcept {
  const CUresult code = driver::try_call(driver::table->cuMemFreeAsync, pointer, stream_.raw());
  if (code == CUDA_SUCCESS) [[likely]]
    return code;
  if (is_destroyed_stream_error(code)) return free_after_all_work(context(), pointer);
  return is_capturing(stream_.raw()) ? CUDA_ERROR_NOT_READY : code;
}

// Checks for a capture first: using the legacy stream would invalidate a capture of a blocking
// stream.
CUresult free_order::free_on_default_stream(CUdeviceptr pointer) const noexcept {
  try {
    if (!context_) return driver::try_call(driver::table->cuMemFreeAsync, pointer, stream_.raw());
    const current_scope scope{context_.raw()};
    if (is_capturing(stream_.raw())) return CUDA_ERROR_NOT_READY;
    if (is_of_other_thread()) {
      driver::call(driver::table->cuStreamWaitEvent, stream_.raw(), recorded_.raw(), 0u);
    }
    return driver::try_call(driver::table->cuMemFreeAsync, pointer, stream_.raw());
  } catch (const driver::driver_error& error) {
    const CUresult code = driver::try_call(driver::table->cuMemFree, pointer);
    return code == CUDA_SUCCESS ? code : error.code;
  }
}

// Frees the memory even if the synchronization fails: a failed stream executes nothing more.
free_result free_order::free_after_work(CUdeviceptr pointer, memory_kind kind) const noexcept {
  try {
    const current_scope scope{context_ ? context_.raw() : raw_current_context()};
    if (!stream_) return free_synchronously(pointer, kind);
    if (is_capturing(stream_.raw())) return {CUDA_ERROR_NOT_READY};
    const CUresult waited = driver::try_call(driver::table->cuStreamSynchronize, stream_.raw());
    const free_result freed = free_synchronously(pointer, kind);
    return waited == CUDA_SUCCESS ? freed : free_result{waited, "cuStreamSynchronize"};
  } catch (const driver::driver_error& error) {
    const free_result freed = free_synchronously(pointer, kind);
    return freed.code == CUDA_SUCCESS ? free_result{error.code, error.function} : freed;
  }
}

// The handles 0 and 1 denote the stream of the current context, so another one needs an event.
bool free_order::is_on_legacy_stream(const stream_ref& other) const {
  const auto is_legacy = [](CUstream raw) { return raw == nullptr || raw == CU_STREAM_LEGACY; };
  return is_legacy(stream_.raw()) && is_legacy(other.raw()) &&
         raw_current_context() == context_.raw();
}

void free_order::make_wait(const stream_ref& later) const {
  if (is_on_legacy_stream(later)) return;
  const gil_release_if_held released;
  if (!is_default_stream(stream_.raw())) return wait_for_stream(later, stream_);
  if (is_of_other_thread()) {
    driver::call(driver::table->cuStreamWaitEvent, later.raw(), recorded_.raw(), 0u);
    return;
  }
  event_handle reached;
  {
    const current_scope scope{context_.raw()};
    reached = record_event(stream_, CU_EVENT_DISABLE_TIMING);
  }
  driver::call(driver::table->cuStreamWaitEvent, later.raw(), reached.raw(), 0u);
}

free_result free_order::make_wait(const free_order& later) const noexcept {
  if (!stream_ || !later.stream_ || needs_no_free() || later.needs_no_free() ||
      is_on_stream_of(later))
    return {};
  if (is_capturing(stream_.raw()) || is_capturing(later.stream_.raw())) return {};
  try {
    const current_scope scope{later.context().raw()};
    make_wait(later.stream_);
  } catch (const driver::driver_error& error) {
    return {error.code, error.function};
  }
  return {};
}

bool free_order::enter() const noexcept {
  CUcontext current = nullptr;
  if (!context_ || driver::try_call(driver::table->cuCtxGetCurrent, &current) != CUDA_SUCCESS ||
      current == context_.raw() || context_.is_destroyed()) {
    return false;
  }
  return driver::try_call(driver::table->cuCtxPushCurrent, context_.raw()) == CUDA_SUCCESS;
}

void free_order::leave() noexcept { pop_context(); }

bool free_order::is_of_other_thread() const noexcept {
  return recorded_ && thread_ != thread_number();
}

bool is_capturing(CUstream stream) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult code = driver::try_call(driver::table->cuStreamIsCapturing, stream, &status);
  if (code == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return true;  // the legacy stream waits for one
  return code == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void free_deferred() noexcept {
  has_deferred_frees.store(false, std::memory_order_relaxed);
  auto* each = free_order::deferred::first.exchange(nullptr, std::memory_order_acquire);
  while (each != nullptr) {
    auto* const next = each->next;
    free_result result;
    if (each->order.is_of_this_process()) {
      result.code = release([&] {
        result = each->order.attempt(each->pointer, each->kind);
        return result.code;
      });
    }
    if (result.code == CUDA_ERROR_NOT_READY) {
      each->push();
    } else {
      if (result.code != CUDA_SUCCESS) {
        report_failed_destroy(result.function, each->pointer, result.code);
      }
      delete each;
    }
    each = next;
  }
}

}  // namespace halfwarp::core
