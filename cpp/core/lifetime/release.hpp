// SPDX-License-Identifier: Apache-2.0
// The one place that frees memory and destroys objects in the driver.
#pragma once

#include "core/lifetime/interpreter.hpp"
#include "core/lifetime/process.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {

// Allows calls on this thread that would invalidate a capture in progress, on whatever stream.
class relaxed_capture_scope {
 public:
  relaxed_capture_scope() noexcept : is_relaxed_{exchange()} {}
  ~relaxed_capture_scope() {
    // Retries once: a thread left in relaxed mode would stay so for every later capture.
    if (is_relaxed_ && !exchange()) static_cast<void>(exchange());
  }
  relaxed_capture_scope(const relaxed_capture_scope&) = delete;  // the mode is restored once
  relaxed_capture_scope& operator=(const relaxed_capture_scope&) = delete;

 private:
  // Returns false if the driver refuses; then there is no capture, and no mode to restore.
  [[nodiscard]] bool exchange() noexcept {
    return driver::try_call(driver::table->cuThreadExchangeStreamCaptureMode, &mode_) ==
           CUDA_SUCCESS;
  }
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  const bool is_relaxed_;
};

// The capture mode that a call needs while a capture is in progress: relaxed, or any.
enum class capture : unsigned char { relaxed, any };

// Makes a call that frees, destroys or unloads an object. Garbage collection can trigger it in the
// middle of a capture, on a thread that holds the GIL. The caller must check first that the object
// belongs to this process and that its context was not reset.
template <capture during = capture::relaxed, class Call>
[[nodiscard]] CUresult release(Call&& call) noexcept {
  // Process exit frees everything; waiting for the stuck call would hang the exit.
  if (is_stuck.load(std::memory_order_relaxed)) [[unlikely]]
    return CUDA_SUCCESS;
  const gil_release_if_held released;
  if constexpr (during == capture::any) {
    return call();
  } else {
    const relaxed_capture_scope relaxed;
    return call();
  }
}

}  // namespace halfwarp::core
