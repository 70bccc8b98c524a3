// SPDX-License-Identifier: Apache-2.0
// Event sets: the registered event types and the pending events.
#pragma once

#include "emulated_nvml/process/library.hpp"

namespace halfwarp::emulated_nvml {

struct event {
  nvmlDevice_t device;
  unsigned long long type, data;
};

// The target of an event set handle. Guarded by the lock.
struct event_set {
  bool is_of_system;
  bool is_used;
  unsigned long long types[max_devices];  // per device; a system set uses the first element
  event pending[64];                      // oldest first; events beyond the capacity are dropped
  unsigned count;
};

// Returns null if there are too many event sets.
event_set* create_event_set(bool is_of_system) noexcept;
event_set* find_event_set(const void* handle, bool is_of_system) noexcept;  // null if unknown
void free_event_set(event_set* set) noexcept;

// Adds an event to each set that registered its type; returns the number of sets.
unsigned post(const event& posted, bool is_of_system) noexcept;

void clear_events() noexcept;  // discards pending events

// Waits and receives up to `capacity` events. Returns a timeout error if none arrives in time; the
// largest number waits without limit. Freeing the set ends the wait.
nvmlReturn_t wait_for_events(event_set* source, event* out, unsigned capacity,
                             unsigned milliseconds, unsigned* received_count) noexcept;

}  // namespace halfwarp::emulated_nvml
