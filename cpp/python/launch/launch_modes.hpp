// SPDX-License-Identifier: Apache-2.0
// Launch settings of the environment, read at the first launch.
#pragma once

#include <atomic>
#include <cstdint>

namespace halfwarp::python {

enum launch_mode : std::uint8_t {
  launch_unread = 1,         // the environment was not read yet
  launch_records = 2,        // HALFWARP_FLIGHT_RECORDER, unless 0
  launch_synchronizes = 4,   // HALFWARP_SYNC_LAUNCH=1
  launch_unchecked = 8,      // HALFWARP_LAUNCH_CHECKS=0
  launch_many_devices = 16,  // the recorder must query the current device
  launch_captures = 32       // a GraphBuilder captures, and retains what is launched
};

inline std::atomic<std::uint8_t> launch_modes{launch_unread};

// The number of captures whose graphs retain what is launched.
inline std::atomic<int> captures_under_way{0};

inline void count_capture(int change) noexcept {
  if (captures_under_way.fetch_add(change, std::memory_order_relaxed) + change != 0) {
    launch_modes.fetch_or(launch_captures, std::memory_order_relaxed);
  } else {
    launch_modes.fetch_and(static_cast<std::uint8_t>(~launch_captures), std::memory_order_relaxed);
  }
}

// Reads the environment once. Returns 0, or -1 with ValueError set for an invalid value, or with
// the loader's error if there is no driver. Needs the GIL.
int read_launch_modes() noexcept;

}  // namespace halfwarp::python
