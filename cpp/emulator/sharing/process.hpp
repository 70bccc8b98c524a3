// SPDX-License-Identifier: Apache-2.0
// Identifies a process, checks whether it is running, and opens a file of its descriptors.
#pragma once

#include <cstdint>

namespace halfwarp::emulator::sharing {

// A process; its start distinguishes it from a later one with the same number.
struct process_id {
  std::int32_t number = 0;
  std::uint64_t started = 0;
  bool operator==(const process_id&) const = default;
};

// Returns the start of a process in ticks since boot; 0 if it has ended or is a zombie.
std::uint64_t start_of(int number) noexcept;
process_id this_process() noexcept;
bool is_running(const process_id& process) noexcept;

// Opens the file of another process's descriptor in this process. Returns -1 and sets errno: ESRCH
// if the process has ended, EACCES or EPERM if it belongs to another user.
int open_file_of(const process_id& owner, int descriptor) noexcept;

}  // namespace halfwarp::emulator::sharing
