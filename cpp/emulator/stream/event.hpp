// SPDX-License-Identifier: Apache-2.0
// An event: the last point of a stream at which it was recorded, and its time.
#pragma once

#include <chrono>
#include <memory>

#include "emulator/object/object.hpp"
#include "emulator/sharing/event_state.hpp"
#include "emulator/stream/context.hpp"
#include "emulator/stream/stream.hpp"

namespace halfwarp::emulator {

using host_clock = std::chrono::steady_clock;

// A recording of an event. Recording again creates another, so that earlier waits stay valid.
struct event_record {
  stream_point point;
  host_clock::time_point reached;
  bool is_reached = false;
  std::shared_ptr<sharing::event_state> shared;  // of an interprocess event; else null
  std::uint64_t number = 0;
};

struct captured_event;

class event : public object {
 public:
  static constexpr object_kind kind_of = object_kind::event;

  event(std::shared_ptr<context> owner, unsigned flags,
        std::shared_ptr<sharing::event_state> shared_state = nullptr)
      : object{kind_of, owner->id()},
        shared{std::move(shared_state)},
        owner_{std::move(owner)},
        flags_{flags} {}

  context& owner() const noexcept { return *owner_; }
  bool has_timing() const noexcept { return (flags_ & CU_EVENT_DISABLE_TIMING) == 0; }
  unsigned flags() const noexcept { return flags_; }

  // Creates a recording at a point of a stream; it becomes the last recording.
  std::shared_ptr<event_record> record_at(stream_point point) {
    last = std::make_shared<event_record>(event_record{std::move(point), {}, false, shared, 0});
    if (shared) last->number = shared->begin();
    captured.reset();
    return last;
  }
  // Returns the number of the last recording if another process made it, else 0.
  std::uint64_t remote_recording() const noexcept {
    const std::uint64_t latest = shared ? shared->latest() : 0;
    return latest != (last ? last->number : 0) ? latest : 0;
  }

  const std::shared_ptr<sharing::event_state> shared;  // null: not interprocess
  std::shared_ptr<event_record> last;                  // null: never recorded
  std::shared_ptr<captured_event> captured;            // set if last recorded in a capture

 private:
  std::shared_ptr<context> owner_;
  unsigned flags_;
};

}  // namespace halfwarp::emulator
