// SPDX-License-Identifier: Apache-2.0
// Where in the order of streams an allocation goes back.
#include "core/memory/free_order.hpp"

namespace halfwarp::core {
namespace {

// Numbers are never reused, unlike the addresses and the identifiers of threads that have ended.
unsigned long long this_thread() noexcept {
  static std::atomic<unsigned long long> last{0};
  static thread_local const unsigned long long mine = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return mine;
}

}  // namespace

free_order::free_order(stream_handle stream) : stream_{std::move(stream)} {
  if (!is_default_stream(stream_.raw())) return;
  context_ = current_context();
  if (!context_) throw no_context{};
  if (stream_.raw() == CU_STREAM_PER_THREAD) {
    recorded_ = record_event(stream_, CU_EVENT_DISABLE_TIMING);
    thread_ = this_thread();
  }
}

void free_order::wait_for_recording() const {
  if (thread_ == this_thread()) return;
  driver::call(driver::table->cuStreamWaitEvent, stream_.raw(), recorded_.raw(), 0u);
}

}  // namespace halfwarp::core
