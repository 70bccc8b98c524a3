// SPDX-License-Identifier: Apache-2.0
// An event: the last place in a stream where it was recorded, and when that was reached.
#pragma once

#include <chrono>
#include <memory>

#include "emulator/object/object.hpp"
#include "emulator/sharing/event_state.hpp"
#include "emulator/stream/context.hpp"
#include "emulator/stream/stream.hpp"

namespace halfwarp::emulator {

using host_clock = std::chrono::steady_clock;

// One recording. Recording again makes a new one, so that who waits for the old one is not moved.
struct event_record {
  stream_point at;
  host_clock::time_point reached;
  bool is_reached = false;
  std::shared_ptr<sharing::event_state> shared;  // to be told of it, under this number
  std::uint64_t number = 0;
};

struct captured_event;

class event : public object {
 public:
  static constexpr object_kind kind_of = object_kind::event;

  event(std::shared_ptr<context> owner, unsigned flags,
        std::shared_ptr<sharing::event_state> between_processes = nullptr)
      : object{kind_of, owner->id()},
        shared{std::move(between_processes)},
        owner_{std::move(owner)},
        flags_{flags} {}

  context& owner() const noexcept { return *owner_; }
  bool has_timing() const noexcept { return (flags_ & CU_EVENT_DISABLE_TIMING) == 0; }
  unsigned flags() const noexcept { return flags_; }

  // A recording at a place, which becomes the last one.
  std::shared_ptr<event_record> record_at(stream_point at) {
    last = std::make_shared<event_record>(event_record{std::move(at), {}, false, shared, 0});
    if (shared) last->number = shared->begin();
    captured.reset();
    return last;
  }
  // The number of the last recording, when it was made by another process; else 0.
  std::uint64_t recorded_elsewhere() const noexcept {
    const std::uint64_t latest = shared ? shared->latest() : 0;
    return latest != (last ? last->number : 0) ? latest : 0;
  }

  const std::shared_ptr<sharing::event_state> shared;  // null: of this process alone
  std::shared_ptr<event_record> last;                  // null: never recorded
  std::shared_ptr<captured_event> captured;            // set when it was last recorded in a capture

 private:
  std::shared_ptr<context> owner_;
  unsigned flags_;
};

}  // namespace halfwarp::emulator
