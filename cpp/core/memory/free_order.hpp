// SPDX-License-Identifier: Apache-2.0
// Where in the order of streams an allocation goes back.
#pragma once

#include <utility>

#include "core/stream.hpp"

namespace halfwarp::core {

// How memory goes back to the driver.
enum class memory_kind : unsigned char {
  pool,    // cuMemFreeAsync, in the order of the stream
  device,  // cuMemFree, once the stream has done all its work
  host,    // cuMemFreeHost, likewise
};

struct free_result {
  CUresult code = CUDA_SUCCESS;
  const char* function = "cuMemFreeAsync";  // the one that answered
};

// A recorded deallocation stream. A default stream means another stream in each context, and the
// per-thread one another in each thread, so what it meant when it was recorded is kept with it.
class free_order {
 public:
  free_order() noexcept = default;

  free_order(const free_order&) = default;
  free_order(free_order&&) noexcept = default;
  // Whole before the old one goes: that may give the interpreter's lock back.
  free_order& operator=(free_order other) noexcept {
    swap(other);
    return *this;
  }

  // No stream is recorded: memory that goes back at once, in this process and, where it goes with a
  // context, in that one.
  [[nodiscard]] static free_order without_stream(context_instance context = {}) noexcept;

  // The order of a free that is made now, on this thread.
  [[nodiscard]] static free_order now(stream_handle stream, context_handle context = {});

  // Stays empty when a default stream is given and no context is current: it means nothing then.
  explicit free_order(stream_handle stream);

  // The same in place, for an order that is empty.
  void record(stream_handle stream) {
    if (is_default_stream(stream.raw()) || !stream.parent()) [[unlikely]] {
      *this = free_order{std::move(stream)};
      return;
    }
    generation_ = fork_generation.load(std::memory_order_relaxed);
    stream_.swap(stream);
  }

  [[nodiscard]] bool is_recorded() const noexcept { return stream_.is_open(); }

  // Gives memory back: in the recorded context, after what the recording saw, once, in one of three
  // ways. While a capture forbids it, or the context is reset and not made anew, it is kept, and
  // given back by a later free or allocation. Nothing is done in the child of a fork, whose
  // parent has the memory, nor for memory that went with its context.
  [[nodiscard]] free_result free(CUdeviceptr pointer,
                                 memory_kind kind = memory_kind::pool) const noexcept;

  // Lets a stream wait for what was given so far to the stream of the recording.
  void come_before(const stream_ref& later) const;
  // The same for the stream of another free, unless a capture is in the way.
  [[nodiscard]] free_result come_before(const free_order& later) const noexcept;
  [[nodiscard]] bool is_on_stream_of(const free_order& other) const noexcept {
    return stream_.raw() == other.stream_.raw() && thread_ == other.thread_ &&
           context().raw() == other.context().raw();
  }

  // Makes the recorded context current, unless it was reset; whether leave() is due. A driver that
  // fails here fails at the free as well, which says so.
  [[nodiscard]] bool enter() const noexcept;
  static void leave() noexcept;

  [[nodiscard]] bool is_of_this_process() const noexcept {
    return generation_ == fork_generation.load(std::memory_order_relaxed);
  }

  // Whether there is nothing to give back: the memory is the parent's, or went with its context.
  [[nodiscard]] bool is_gone() const noexcept {
    return !is_of_this_process() || context().is_gone();
  }

  void swap(free_order& other) noexcept {
    stream_.swap(other.stream_);
    context_.swap(other.context_);
    recorded_.swap(other.recorded_);
    std::swap(thread_, other.thread_);
    std::swap(generation_, other.generation_);
  }

 private:
  friend void free_deferred() noexcept;
  struct deferred;

  // One attempt; CUDA_ERROR_NOT_READY: not now.
  [[nodiscard]] free_result attempt(CUdeviceptr pointer, memory_kind kind) const noexcept;
  [[nodiscard]] CUresult free_on_stream(CUdeviceptr pointer) const noexcept;
  [[nodiscard]] CUresult free_on_default_stream(CUdeviceptr pointer) const noexcept;
  [[nodiscard]] free_result free_after_work(CUdeviceptr pointer, memory_kind kind) const noexcept;
  [[nodiscard]] const context_instance& context() const noexcept {
    return context_ || !stream_ ? context_ : stream_.parent();
  }

  // A thread that is not the one of the recording has another per-thread default stream.
  [[nodiscard]] bool is_of_other_thread() const noexcept;

  stream_handle stream_;
  context_instance context_;  // of a default stream, of a foreign one, of memory without a stream
  event_handle recorded_;     // of the per-thread default stream only
  unsigned long long thread_ = 0;
  std::uint32_t generation_ = 0;
};

// Whether work of the stream is recorded into a graph now instead of being done.
[[nodiscard]] bool is_capturing(CUstream stream) noexcept;

inline constinit std::atomic<bool> has_deferred_frees{false};

// Gives back what could not be when its owner went, as far as that can be done now. Costs a look
// where there is nothing.
void free_deferred() noexcept;
inline void free_what_was_deferred() noexcept {
  if (has_deferred_frees.load(std::memory_order_relaxed)) [[unlikely]]
    free_deferred();
}

}  // namespace halfwarp::core
