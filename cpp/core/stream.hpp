// SPDX-License-Identifier: Apache-2.0
// Streams: owned ones, foreign ones, and the two tokens of default streams.
#pragma once

#include "core/event.hpp"

namespace halfwarp::core {

class stream_blocks;

struct stream_facts {
  // Cached values of the driver. A stream created here knows them from the start.
  static constexpr int unknown = -1;
  mutable std::atomic<int> flags{unknown};
  mutable std::atomic<bool> has_priority{false};
  mutable std::atomic<int> priority{0};
  CUdevice device = -1;  // -1: of the current context (default streams), or unknown (foreign ones)
  mutable std::atomic<stream_blocks*> blocks{nullptr};  // the stream's lists in memory pools
  mutable spare_event mark;  // for waits of other streams; only of a stream with a context

  constexpr stream_facts() noexcept = default;
  constexpr stream_facts(CUdevice on_device, int with_flags, int with_priority) noexcept
      : flags{with_flags}, has_priority{true}, priority{with_priority}, device{on_device} {}
  stream_facts(stream_facts&& other) noexcept
      : flags{other.flags.load(std::memory_order_relaxed)},
        has_priority{other.has_priority.load(std::memory_order_relaxed)},
        priority{other.priority.load(std::memory_order_relaxed)},
        device{other.device} {}
};

// Call before a stream is destroyed: detaches it from the pools with blocks in its order.
void detach_from_pools(const stream_facts& facts) noexcept;

struct stream_traits {
  using raw_type = CUstream;
  using parent_type = context_instance;  // null for foreign streams and tokens
  using facts_type = stream_facts;
  static constexpr const char* destroyer = "cuStreamDestroy";
  static constexpr bool is_safe_in_capture = true;
  static void before_destroy(const stream_facts& facts) noexcept {
    if (facts.blocks.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      detach_from_pools(facts);
  }
  static CUresult destroy(CUstream raw, const stream_facts&) noexcept {
    return driver::try_call(driver::table->cuStreamDestroy, raw);
  }
};

using stream_ref = handle_ref<stream_traits>;
using stream_handle = handle<stream_traits>;

// Returns whether `raw` is a token of a default stream, which depends on the current context.
[[nodiscard]] constexpr bool is_default_stream(CUstream raw) noexcept {
  return raw == nullptr || raw == CU_STREAM_LEGACY || raw == CU_STREAM_PER_THREAD;
}

// Creates a stream in `context`, whichever context is current. `priority` must be in its range.
[[nodiscard]] stream_handle create_stream(const context_ref& context, unsigned flags, int priority);

// Wraps a stream created by other code: shared if we own the stream, else borrowed.
[[nodiscard]] stream_handle stream_of(CUstream raw, keep_alive owner = {});

// Returns the context of a stream; for a default stream, the current context (null if none).
[[nodiscard]] context_handle context_of(const stream_ref& stream);

[[nodiscard]] bool is_nonblocking(const stream_ref& stream);
[[nodiscard]] int priority_of(const stream_ref& stream);

// Invalidates the cached priority. Call after setting it.
void invalidate_priority(const stream_ref& stream) noexcept;

// Records a new event of the stream's context. Returns null for a default stream without a current
// context.
[[nodiscard]] event_handle record_event(const stream_ref& stream, unsigned flags);
[[nodiscard]] event_handle record_event(context_instance context, CUstream raw, unsigned flags);

// Makes `later` wait for all work submitted to `earlier` so far.
void wait_for_stream(const stream_ref& later, const stream_ref& earlier);

// Makes the stream's context current. Returns false if it already is, and for a default stream.
[[nodiscard]] bool enter_context_of(const stream_ref& stream) noexcept;

// Submits work on memory. Drivers check addresses against the current context, not the stream's; a
// call refused for that reason is submitted again in the stream's context.
template <class Submit>
[[nodiscard]] CUresult submit_in_order(const stream_ref& stream, Submit&& submit) {
  const CUresult code = submit(stream.raw());
  if (code != CUDA_ERROR_INVALID_VALUE || !enter_context_of(stream)) [[likely]]
    return code;
  const CUresult code_in_context = submit(stream.raw());
  pop_context();
  return code_in_context;
}

}  // namespace halfwarp::core
