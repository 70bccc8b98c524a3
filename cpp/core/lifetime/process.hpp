// SPDX-License-Identifier: Apache-2.0
// Facts of the whole process that decide whether a driver object may still be destroyed.
#pragma once

#include <atomic>
#include <cstdint>

namespace halfwarp::core {

// Counts the forks that lie behind this process. A handle made before the last one belongs to the
// parent: the driver of the child must not be asked to destroy it.
inline std::atomic<std::uint32_t> fork_generation{0};

// Set when the interpreter begins to exit: from then on a failing clean-up is not reported.
inline std::atomic<bool> is_exiting{false};

// Set then when a host function is still running that does not return: driver calls that wait for
// the work of a stream would wait for ever.
inline std::atomic<bool> is_stuck{false};

// Call in the child after a fork, while it has one thread only.
void after_fork_in_child() noexcept;

}  // namespace halfwarp::core
