// SPDX-License-Identifier: Apache-2.0
// Names of the process's kernels, for messages about earlier launches.
#pragma once

#include <cstdint>
#include <string>

namespace halfwarp::core {

// Returns a number for a new kernel, which the launch path records instead of the name.
[[nodiscard]] std::uint32_t register_kernel_name(std::string name);

// Call when a kernel is destroyed; its name remains available for some time.
void retire_kernel_name(std::uint32_t number) noexcept;

// Returns the name, or an empty string if it was discarded.
[[nodiscard]] std::string name_of_kernel(std::uint32_t number);

// Discards the names in a child process if another thread held their lock during the fork.
void reset_kernel_names_after_fork() noexcept;

}  // namespace halfwarp::core
