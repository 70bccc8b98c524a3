// SPDX-License-Identifier: Apache-2.0
// What the environment asks of launches, read at the first one.
#pragma once

#include <atomic>
#include <cstdint>

namespace halfwarp::python {

enum launch_mode : std::uint8_t {
  launch_unread = 1,         // the environment was not looked at yet
  launch_records = 2,        // HALFWARP_FLIGHT_RECORDER, unless 0
  launch_synchronises = 4,   // HALFWARP_SYNC_LAUNCH=1
  launch_unchecked = 8,      // HALFWARP_LAUNCH_CHECKS=0
  launch_many_devices = 16,  // so that the recorder must ask which one is current
  launch_captures = 32       // a GraphBuilder captures, and keeps what is launched
};

inline std::atomic<std::uint8_t> launch_modes{launch_unread};

// How many captures there are whose graphs are to keep what is launched.
inline std::atomic<int> captures_under_way{0};

inline void count_capture(int change) noexcept {
  if (captures_under_way.fetch_add(change, std::memory_order_relaxed) + change != 0) {
    launch_modes.fetch_or(launch_captures, std::memory_order_relaxed);
  } else {
    launch_modes.fetch_and(static_cast<std::uint8_t>(~launch_captures), std::memory_order_relaxed);
  }
}

// Reads the environment once. 0, or -1 with ValueError set for a value that is not understood, or
// with the loader's error when there is no driver. Needs the interpreter lock.
int read_launch_modes() noexcept;

}  // namespace halfwarp::python
