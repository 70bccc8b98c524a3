// SPDX-License-Identifier: Apache-2.0
// What a copy from or to an array of somebody else needs to know while its stream works or records.
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

// Lets the graph that the stream is being captured into hold an object, which `release` gets when
// the last graph made of it goes, on any thread. Where the driver refuses, nobody releases it.
void hold_in_captured_graph(const stream_ref& stream, void* object, CUhostFn release) noexcept;

}  // namespace halfwarp::core
