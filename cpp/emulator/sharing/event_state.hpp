// SPDX-License-Identifier: Apache-2.0
// The state of an interprocess event: its recordings and their completion.
#pragma once

#include <cstdint>
#include <memory>

#include "emulator/memory/shared_file.hpp"
#include "emulator/sharing/process.hpp"

namespace halfwarp::emulator::sharing {

// The 64 bytes by which another process opens an event.
struct event_handle {
  std::uint64_t mark;
  memory::share_token token;
  process_id owner;
  std::int32_t descriptor;
  std::uint32_t flags;  // as passed to cuEventCreate
  std::uint64_t reserved[2];
};
static_assert(sizeof(event_handle) == 64);

enum class progress : std::uint8_t {
  completed,
  pending,
  lost,  // the recording process ended before completion
};

// A page that all processes map. Thread-safe, and robust if a process ends at any point.
class event_state {
 public:
  // Creates the state of an event; returns null and sets errno on failure.
  static std::shared_ptr<event_state> make();
  // Opens the state of an event. Returns null and sets errno: EINVAL for an invalid handle, else as
  // open_file_of.
  static std::shared_ptr<event_state> open(const event_handle& source);
  ~event_state();
  event_state(const event_state&) = delete;  // owns a mapping
  event_state& operator=(const event_state&) = delete;

  event_handle handle(unsigned flags) const noexcept;

  // Begins a recording by this process, which becomes the latest, and returns its number.
  std::uint64_t begin() noexcept;
  void complete(std::uint64_t recording) noexcept;

  std::uint64_t latest() const noexcept;  // 0: the event was never recorded
  progress of(std::uint64_t recording) const noexcept;
  // Sleeps until any recording completes, or for some milliseconds.
  void wait() const noexcept;

 private:
  struct page;
  event_state(int file, page* view) noexcept : file_{file}, at_{view} {}
  static std::shared_ptr<event_state> map(int file);

  int file_;
  page* at_;
};

}  // namespace halfwarp::emulator::sharing
