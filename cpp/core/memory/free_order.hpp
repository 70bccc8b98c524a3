// SPDX-License-Identifier: Apache-2.0
// Where in the order of streams an allocation goes back.
#pragma once

#include <utility>

#include "core/stream.hpp"

namespace halfwarp::core {

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

  // Not recorded: memory that goes back at once, in this process.
  [[nodiscard]] static free_order of_this_process() noexcept;

  // Stays empty when a default stream is given and no context is current: it means nothing then.
  explicit free_order(stream_handle stream);

  [[nodiscard]] bool is_recorded() const noexcept { return stream_.is_open(); }
  [[nodiscard]] const stream_handle& stream() const noexcept { return stream_; }

  // Gives device memory back to its pool, in the recorded context, after what the recording saw.
  // Does nothing in the child of a fork: the memory is the parent's.
  [[nodiscard]] CUresult free(CUdeviceptr pointer) const noexcept;

  // Makes the recorded context current; whether leave() is due.
  [[nodiscard]] bool enter() const;
  static void leave() noexcept;

  [[nodiscard]] bool is_of_this_process() const noexcept {
    return generation_ == fork_generation.load(std::memory_order_relaxed);
  }

  void swap(free_order& other) noexcept {
    stream_.swap(other.stream_);
    context_.swap(other.context_);
    recorded_.swap(other.recorded_);
    std::swap(thread_, other.thread_);
    std::swap(generation_, other.generation_);
  }

 private:
  // A thread that is not the one of the recording has another per-thread default stream.
  void wait_for_recording() const;

  stream_handle stream_;
  context_handle context_;  // of a default stream only
  event_handle recorded_;   // of the per-thread default stream only
  unsigned long long thread_ = 0;
  std::uint32_t generation_ = 0;
};

}  // namespace halfwarp::core
