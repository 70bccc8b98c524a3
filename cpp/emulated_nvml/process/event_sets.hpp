// SPDX-License-Identifier: Apache-2.0
// Sets of events: who waits for what, and what came that nobody has taken yet.
#pragma once

#include "emulated_nvml/process/library.hpp"

namespace halfwarp::emulated_nvml {

struct event {
  nvmlDevice_t device;
  unsigned long long type, data;
};

// Guarded by the lock. What the handle of a set points to.
struct event_set {
  bool is_of_system;
  bool is_used;
  unsigned long long wanted[most_devices];  // types; of the system in the first
  event waiting[64];                        // the oldest first; later ones are lost when it is full
  unsigned count;
};

// Null: there are too many.
event_set* make_event_set(bool is_of_system) noexcept;
event_set* find_event_set(const void* handle, bool is_of_system) noexcept;  // null: there is none
void free_event_set(event_set* set) noexcept;

// Hands an event to each set that asked for it; how many they were.
unsigned post(const event& what, bool is_of_system) noexcept;

void forget_events() noexcept;  // that wait to be taken

// Takes up to `room` events; timeout when none has come after that time, which may be
// none; the greatest number is for ever. The set may be freed meanwhile, which ends the wait.
nvmlReturn_t take(event_set* from, event* out, unsigned room, unsigned milliseconds,
                  unsigned* taken) noexcept;

}  // namespace halfwarp::emulated_nvml
