// SPDX-License-Identifier: Apache-2.0
// Process-wide state that decides whether a driver object may still be destroyed.
#pragma once

#include <atomic>
#include <cstdint>

namespace halfwarp::core {

// Number of forks since the first process. A handle created before the last fork belongs to the
// parent process; a child process must not destroy it.
inline std::atomic<std::uint32_t> fork_generation{0};

// Set when the interpreter begins to exit. From then on failed destructions are not reported.
inline std::atomic<bool> is_exiting{false};

// Set at exit if a host function is still running and does not return. Driver calls that wait for
// its stream would block forever.
inline std::atomic<bool> is_stuck{false};

// Call in the child process after a fork, while it has a single thread.
void after_fork_in_child() noexcept;

}  // namespace halfwarp::core
