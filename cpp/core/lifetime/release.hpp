// SPDX-License-Identifier: Apache-2.0
// The one door through which memory and objects go back to the driver.
#pragma once

#include "core/lifetime/interpreter.hpp"
#include "core/lifetime/process.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {

// Lets this thread call what a capture in progress, on whatever stream, forbids and would not
// survive.
class relaxed_capture_scope {
 public:
  relaxed_capture_scope() noexcept : is_relaxed_{exchange()} {}
  ~relaxed_capture_scope() {
    // Once more if it fails: a thread that stays relaxed is so for every later capture.
    if (is_relaxed_ && !exchange()) static_cast<void>(exchange());
  }
  relaxed_capture_scope(const relaxed_capture_scope&) = delete;  // the modes are swapped back once
  relaxed_capture_scope& operator=(const relaxed_capture_scope&) = delete;

 private:
  // False of a driver that refuses to swap: it has no capture to protect, and nothing to swap back.
  [[nodiscard]] bool exchange() noexcept {
    return driver::try_call(driver::table->cuThreadExchangeStreamCaptureMode, &mode_) ==
           CUDA_SUCCESS;
  }
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  const bool is_relaxed_;
};

// What a capture in progress asks of a call: to be made in relaxed mode, or nothing.
enum class capture : unsigned char { relaxed, any };

// Makes the call that frees, destroys or unloads something. It happens at any time and anywhere:
// the collector does it too, in the middle of a capture, on a thread that holds the interpreter's
// lock. The caller has seen that the object is of this process and that its context was not reset.
template <capture during = capture::relaxed, class Call>
[[nodiscard]] CUresult release(Call&& call) noexcept {
  // The end of the process takes all down; who waited for the stuck call here would end it never.
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
