// SPDX-License-Identifier: Apache-2.0
// Where in the order of streams an allocation goes back.
#pragma once

#include "core/stream.hpp"

namespace halfwarp::core {

// Thrown when a default stream is to be recorded and it means nothing yet.
struct no_context {};

// A recorded deallocation stream. A default stream means another stream in each context, and the
// per-thread one another in each thread, so what it meant when it was recorded is kept with it.
class free_order {
 public:
  free_order() noexcept = default;

  // Throws driver_error; with a default stream and no current context it throws `no_context`.
  explicit free_order(stream_handle stream);

  [[nodiscard]] const stream_handle& stream() const noexcept { return stream_; }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(stream_); }

  // `free(CUstream)` runs with the recorded context current, after what the recording saw.
  template <class Free>
  CUresult run(Free&& free) const {
    if (!context_) return free(stream_.raw());
    const current_scope scope{context_.raw()};
    if (recorded_) wait_for_recording();
    return free(stream_.raw());
  }

 private:
  // A thread that is not the one of the recording has another per-thread default stream.
  void wait_for_recording() const;

  stream_handle stream_;
  context_handle context_;    // of a default stream only
  event_handle recorded_;     // of the per-thread default stream only
  unsigned long long thread_ = 0;
};

}  // namespace halfwarp::core
