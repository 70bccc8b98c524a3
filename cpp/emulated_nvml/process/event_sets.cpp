// SPDX-License-Identifier: Apache-2.0
// Sets of events: a fixed number, so that nothing is allocated.
#include "emulated_nvml/process/event_sets.hpp"

#include <errno.h>
#include <string.h>
#include <time.h>

namespace halfwarp::emulated_nvml {
namespace {

constexpr unsigned most_sets = 64;
constexpr unsigned for_ever = 0xFFFFFFFF;
event_set sets[most_sets];

timespec in(unsigned milliseconds) noexcept {
  timespec when;
  clock_gettime(CLOCK_MONOTONIC, &when);
  const long long nanoseconds = when.tv_nsec + milliseconds % 1000 * 1'000'000LL;
  when.tv_sec += milliseconds / 1000 + nanoseconds / 1'000'000'000;
  when.tv_nsec = nanoseconds % 1'000'000'000;
  return when;
}

}  // namespace

event_set* make_event_set(bool is_of_system) noexcept {
  for (event_set& each : sets) {
    if (each.is_used) continue;
    each = {};
    each.is_used = true;
    each.is_of_system = is_of_system;
    return &each;
  }
  return nullptr;
}

event_set* find_event_set(const void* handle, bool is_of_system) noexcept {
  for (event_set& each : sets) {
    if (&each == handle && each.is_used && each.is_of_system == is_of_system) return &each;
  }
  return nullptr;
}

void free_event_set(event_set* set) noexcept {
  set->is_used = false;
  pthread_cond_broadcast(&event_came);
}

unsigned post(const event& what, bool is_of_system) noexcept {
  unsigned told = 0;
  for (event_set& each : sets) {
    const unsigned place = is_of_system ? 0 : index_of_device(what.device);
    const bool is_wanted =
        each.is_used && each.is_of_system == is_of_system && (each.wanted[place] & what.type) != 0;
    if (!is_wanted || each.count == sizeof each.waiting / sizeof *each.waiting) continue;
    each.waiting[each.count++] = what;
    ++told;
  }
  pthread_cond_broadcast(&event_came);
  return told;
}

void forget_events() noexcept {
  for (event_set& each : sets) each.count = 0;
}

nvmlReturn_t take(event_set* from, event* out, unsigned room, unsigned milliseconds,
                  unsigned* taken) noexcept {
  const timespec until = in(milliseconds);
  bool is_late = milliseconds == 0;
  while (from->is_used && !from->count && !is_late) {
    is_late = milliseconds == for_ever
                  ? pthread_cond_wait(&event_came, &mutex) != 0
                  : pthread_cond_timedwait(&event_came, &mutex, &until) == ETIMEDOUT;
  }
  if (!from->is_used) return NVML_ERROR_INVALID_ARGUMENT;
  if (!from->count) return NVML_ERROR_TIMEOUT;
  *taken = room < from->count ? room : from->count;
  memcpy(out, from->waiting, *taken * sizeof *out);
  from->count -= *taken;
  memmove(from->waiting, from->waiting + *taken, from->count * sizeof *out);
  return NVML_SUCCESS;
}

}  // namespace halfwarp::emulated_nvml
