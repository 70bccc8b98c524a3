// SPDX-License-Identifier: Apache-2.0
// What a copy from or to an array of somebody else needs to know while its stream works.
#pragma once

#include "core/event.hpp"
#include "core/stream.hpp"

namespace halfwarp::core {

// Whether an event was reached; an error counts as that, since its stream uses nothing any more. A
// capture on another stream survives the question.
[[nodiscard]] inline bool was_reached(const event_ref& event) noexcept {
  const relaxed_capture_scope relaxed;
  return driver::try_call(driver::table->cuEventQuery, event.raw()) != CUDA_ERROR_NOT_READY;
}

}  // namespace halfwarp::core
