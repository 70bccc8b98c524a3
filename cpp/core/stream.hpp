// SPDX-License-Identifier: Apache-2.0
// Streams: created ones, foreign ones, and the two default-stream tokens.
#pragma once

#include "core/event.hpp"

namespace halfwarp::core {

class stream_blocks;

struct stream_facts {
  // What the driver would answer, asked at most once; a stream made here knows from the start.
  static constexpr int unknown = -1;
  mutable std::atomic<int> flags{unknown};
  mutable std::atomic<bool> has_priority{false};
  mutable std::atomic<int> priority{0};
  CUdevice device = -1;  // -1: whichever is current (default streams), or not known (foreign ones)
  mutable std::atomic<stream_blocks*> blocks{nullptr};  // what pools have free in its order

  constexpr stream_facts() noexcept = default;
  constexpr stream_facts(CUdevice on_device, int with_flags, int with_priority) noexcept
      : flags{with_flags}, has_priority{true}, priority{with_priority}, device{on_device} {}
  stream_facts(stream_facts&& other) noexcept
      : flags{other.flags.load(std::memory_order_relaxed)},
        has_priority{other.has_priority.load(std::memory_order_relaxed)},
        priority{other.priority.load(std::memory_order_relaxed)},
        device{other.device} {}
};

// Where a stream ends, before it is destroyed: pools keep what they have free in its order.
void leave_pools(const stream_facts& facts) noexcept;

struct stream_traits {
  using raw_type = CUstream;
  using parent_type = context_instance;  // null for foreign streams and tokens: the driver is asked
  using facts_type = stream_facts;
  static constexpr const char* destroyer = "cuStreamDestroy";
  static constexpr bool is_safe_in_capture = true;
  static void before_end(const stream_facts& facts) noexcept {
    if (facts.blocks.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      leave_pools(facts);
  }
  static CUresult destroy(CUstream raw, const stream_facts&) noexcept {
    return driver::try_call(driver::table->cuStreamDestroy, raw);
  }
};

using stream_ref = handle_ref<stream_traits>;
using stream_handle = handle<stream_traits>;

// The raw values that stand for a default stream of whatever context is current.
[[nodiscard]] constexpr bool is_default_stream(CUstream raw) noexcept {
  return raw == nullptr || raw == CU_STREAM_LEGACY || raw == CU_STREAM_PER_THREAD;
}

// A new stream of that context, whichever is current. The priority lies in the context's range.
[[nodiscard]] stream_handle create_stream(const context_ref& context, unsigned flags, int priority);

// Wraps a stream that somebody else made: shared when it is one of ours, else borrowed.
[[nodiscard]] stream_handle stream_of(CUstream raw, keep_alive kept = {});

// The context a stream belongs to; for a default stream the one current now (null when none is).
[[nodiscard]] context_handle context_of(const stream_ref& stream);

[[nodiscard]] bool is_nonblocking(const stream_ref& stream);
[[nodiscard]] int priority_of(const stream_ref& stream);

// After the stream was given another one: it is asked anew.
void forget_priority(const stream_ref& stream) noexcept;

// Records a new event of the stream's context. Null when there is none: for a default stream,
// while no context is current.
[[nodiscard]] event_handle record_event(const stream_ref& stream, unsigned flags);
[[nodiscard]] event_handle record_event(context_instance context, CUstream raw, unsigned flags);

// `later` waits for all that `earlier` was given so far.
void wait_for_stream(const stream_ref& later, const stream_ref& earlier);

// Makes the stream's own context current. False where it is already, and for a default stream,
// which is of whatever context is current.
[[nodiscard]] bool enter_context_of(const stream_ref& stream) noexcept;

// Submits work on memory. Drivers check its addresses in the current context, whichever the
// stream's is: what they refuse there is submitted once more in the stream's own.
template <class Submit>
[[nodiscard]] CUresult submit_in_order(const stream_ref& stream, Submit&& submit) {
  const CUresult code = submit(stream.raw());
  if (code != CUDA_ERROR_INVALID_VALUE || !enter_context_of(stream)) [[likely]]
    return code;
  const CUresult again = submit(stream.raw());
  pop_context();
  return again;
}

}  // namespace halfwarp::core
