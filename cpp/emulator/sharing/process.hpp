// SPDX-License-Identifier: Apache-2.0
// Which process something belongs to, whether that is still there, and a file that it has open.
#pragma once

#include <cstdint>

namespace halfwarp::emulator::sharing {

// The moment of its start tells a process from a later one of the same number.
struct process_id {
  std::int32_t number = 0;
  std::uint64_t started = 0;
  bool operator==(const process_id&) const = default;
};

process_id this_process() noexcept;
bool is_running(const process_id& which) noexcept;

// A descriptor of this process for a file that another one has open; -1, with errno: ESRCH when it
// has ended, EACCES or EPERM when it belongs to another user.
int open_file_of(const process_id& owner, int its_descriptor) noexcept;

}  // namespace halfwarp::emulator::sharing
