// SPDX-License-Identifier: Apache-2.0
// Tracks copies from and to foreign arrays while their stream executes them.
#pragma once

#include "core/event.hpp"
#include "core/stream.hpp"

namespace halfwarp::core {

// Returns whether an event has completed. An error counts as completed, since the failed stream
// executes nothing more. A capture on another stream survives the query.
[[nodiscard]] inline bool has_completed(const event_ref& event) noexcept {
  const relaxed_capture_scope relaxed;
  return driver::try_call(driver::table->cuEventQuery, event.raw()) != CUDA_ERROR_NOT_READY;
}

}  // namespace halfwarp::core
