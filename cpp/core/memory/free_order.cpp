// SPDX-License-Identifier: Apache-2.0
// Where in the order of streams an allocation goes back.
#include "core/memory/free_order.hpp"

namespace halfwarp::core {
namespace {

// Numbers are never reused, unlike the addresses and the identifiers of threads that have ended.
unsigned long long this_thread() noexcept {
  static std::atomic<unsigned long long> last{0};
  static thread_local const unsigned long long mine =
      last.fetch_add(1, std::memory_order_relaxed) + 1;
  return mine;
}

}  // namespace

free_order::free_order(stream_handle stream)
    : generation_{fork_generation.load(std::memory_order_relaxed)} {
  if (is_default_stream(stream.raw())) {
    context_ = current_context();
    if (!context_) return;
    if (stream.raw() == CU_STREAM_PER_THREAD) {
      const unlocked_scope unlocked;
      recorded_ = create_event(context_, CU_EVENT_DISABLE_TIMING);
      driver::call(driver::table->cuEventRecord, recorded_.raw(), stream.raw());
      thread_ = this_thread();
    }
  }
  stream_ = std::move(stream);
}

free_order free_order::of_this_process() noexcept {
  free_order made;
  made.generation_ = fork_generation.load(std::memory_order_relaxed);
  return made;
}

CUresult free_order::free(CUdeviceptr pointer) const noexcept {
  if (!is_of_this_process()) return CUDA_SUCCESS;
  if (!context_) return driver::try_call(driver::table->cuMemFreeAsync, pointer, stream_.raw());
  try {
    const current_scope scope{context_.raw()};
    wait_for_recording();
    return driver::try_call(driver::table->cuMemFreeAsync, pointer, stream_.raw());
  } catch (const driver::driver_error& error) {
    // The order cannot be kept: a free that waits for everything needs none, and nothing leaks.
    const CUresult code = driver::try_call(driver::table->cuMemFree, pointer);
    return code == CUDA_SUCCESS ? code : error.code;
  }
}

bool free_order::enter() const {
  if (!context_ || raw_current_context() == context_.raw()) return false;
  driver::call(driver::table->cuCtxPushCurrent, context_.raw());
  return true;
}

void free_order::leave() noexcept {
  CUcontext popped;
  static_cast<void>(driver::try_call(driver::table->cuCtxPopCurrent, &popped));
}

void free_order::wait_for_recording() const {
  if (!recorded_ || thread_ == this_thread()) return;
  driver::call(driver::table->cuStreamWaitEvent, stream_.raw(), recorded_.raw(), 0u);
}

}  // namespace halfwarp::core
