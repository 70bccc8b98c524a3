// SPDX-License-Identifier: Apache-2.0
// A fixed number of event sets, so that nothing is allocated.
#include "emulated_nvml/process/event_sets.hpp"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <chrono>

namespace halfwarp::emulated_nvml {
namespace {

constexpr unsigned max_sets = 64;
constexpr unsigned infinite = 0xFFFFFFFF;
event_set sets[max_sets];

timespec deadline_after(unsigned milliseconds) noexcept {
  using namespace std::chrono;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const nanoseconds started = seconds{now.tv_sec} + nanoseconds{now.tv_nsec};
  const nanoseconds deadline = started + std::chrono::milliseconds{milliseconds};
  const auto whole = duration_cast<seconds>(deadline);
  return {whole.count(), (deadline - whole).count()};
}

}  // namespace

event_set* create_event_set(bool is_of_system) noexcept {
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
  pthread_cond_broadcast(&event_posted);
}

unsigned post(const event& posted, bool is_of_system) noexcept {
  unsigned receivers = 0;
  for (event_set& each : sets) {
    const unsigned slot = is_of_system ? 0 : index_of_device(posted.device);
    const bool is_registered =
        each.is_used && each.is_of_system == is_of_system && (each.types[slot] & posted.type) != 0;
    if (!is_registered || each.count == sizeof each.pending / sizeof *each.pending) continue;
    each.pending[each.count++] = posted;
    ++receivers;
  }
  pthread_cond_broadcast(&event_posted);
  return receivers;
}

void clear_events() noexcept {
  for (event_set& each : sets) each.count = 0;
}

nvmlReturn_t wait_for_events(event_set* source, event* out, unsigned capacity,
                             unsigned milliseconds, unsigned* received_count) noexcept {
  const timespec deadline = deadline_after(milliseconds);
  bool is_late = milliseconds == 0;
  while (source->is_used && !source->count && !is_late) {
    is_late = milliseconds == infinite
                  ? pthread_cond_wait(&event_posted, &mutex) != 0
                  : pthread_cond_timedwait(&event_posted, &mutex, &deadline) == ETIMEDOUT;
  }
  if (!source->is_used) return NVML_ERROR_INVALID_ARGUMENT;
  if (!source->count) return NVML_ERROR_TIMEOUT;
  *received_count = capacity < source->count ? capacity : source->count;
  memcpy(out, source->pending, *received_count * sizeof *out);
  source->count -= *received_count;
  memmove(source->pending, source->pending + *received_count, source->count * sizeof *out);
  return NVML_SUCCESS;
}

}  // namespace halfwarp::emulated_nvml
