// SPDX-License-Identifier: Apache-2.0
// What several processes know of one event: which recordings there were, and which are reached.
#pragma once

#include <cstdint>
#include <memory>

#include "emulator/memory/shared_file.hpp"
#include "emulator/sharing/process.hpp"

namespace halfwarp::emulator::sharing {

// The 64 bytes that another process opens an event by.
struct event_handle {
  std::uint64_t mark;
  memory::share_token token;
  process_id owner;
  std::int32_t descriptor;
  std::uint32_t flags;  // of cuEventCreate
  std::uint64_t reserved[2];
};
static_assert(sizeof(event_handle) == 64);

enum class progress : std::uint8_t {
  reached,
  pending,
  lost,  // the process that recorded it has ended before
};

// Memory that all of them map. Thread-safe, and safe against processes that end at any point.
class event_state {
 public:
  // Null, with errno, when the system gives no memory or descriptor.
  static std::shared_ptr<event_state> make();
  // Null, with errno: EINVAL for a handle that is none, else as open_file_of.
  static std::shared_ptr<event_state> open(const event_handle& from);
  ~event_state();
  event_state(const event_state&) = delete;  // owns a mapping
  event_state& operator=(const event_state&) = delete;

  event_handle handle(unsigned flags) const noexcept;

  // The number of a new recording by this process, which is the latest from now on.
  std::uint64_t begin() noexcept;
  void reach(std::uint64_t recording) noexcept;

  std::uint64_t latest() const noexcept;  // 0: never recorded
  progress of(std::uint64_t recording) const noexcept;
  // Sleeps until any recording is reached, or for some milliseconds.
  void wait() const noexcept;

 private:
  struct page;
  event_state(int file, page* at) noexcept : file_{file}, at_{at} {}
  static std::shared_ptr<event_state> map(int file);

  int file_;
  page* at_;
};

}  // namespace halfwarp::emulator::sharing
