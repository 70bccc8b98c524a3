// SPDX-License-Identifier: Apache-2.0
// Events: created in a context, stored with their creation flags.
#pragma once

#include "core/context.hpp"
#include "core/lifetime/spin_lock.hpp"

namespace halfwarp::core {

struct event_facts {
  unsigned flags = CU_EVENT_DISABLE_TIMING;  // CU_EVENT_*
  bool is_imported = false;                  // from another process

  [[nodiscard]] bool is_timing_enabled() const noexcept {
    return (flags & CU_EVENT_DISABLE_TIMING) == 0;
  }
  [[nodiscard]] bool is_blocking_sync() const noexcept {
    return (flags & CU_EVENT_BLOCKING_SYNC) != 0;
  }
  [[nodiscard]] bool is_ipc_enabled() const noexcept {
    return (flags & CU_EVENT_INTERPROCESS) != 0;
  }
};

struct event_traits {
  using raw_type = CUevent;
  using parent_type = context_instance;
  using facts_type = event_facts;
  static constexpr const char* destroyer = "cuEventDestroy";
  static constexpr bool is_safe_in_capture = true;
  static constexpr bool is_registered = false;  // frequent, and never looked up by raw value
  static CUresult destroy(CUevent raw, const event_facts&) noexcept {
    return driver::try_call(driver::table->cuEventDestroy, raw);
  }
};

using event_ref = handle_ref<event_traits>;
using event_handle = handle<event_traits>;

// An event that its owner records again for each use, because a wait for an event refers to the
// last record before it. One use at a time: concurrent ones create further events.
class spare_event {
 public:
  constexpr spare_event() noexcept = default;
  spare_event(spare_event&&) noexcept {}  // a new owner has none yet

  // Returns the event, or null. The caller returns it after its use.
  [[nodiscard]] event_handle take() noexcept {
    const spin_guard guard{lock_};
    return event_.take();
  }
  void put(event_handle event) noexcept {
    const spin_guard guard{lock_};
    event_.swap(event);  // parameters are destroyed after the guard
  }

 private:
  spin_lock lock_;
  event_handle event_;
};

// Creates an event in `context`, whichever context is current.
[[nodiscard]] event_handle create_event(context_instance context, unsigned flags);

}  // namespace halfwarp::core
