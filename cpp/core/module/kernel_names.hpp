// SPDX-License-Identifier: Apache-2.0
// The names of the process's kernels, for messages about launches that happened earlier.
#pragma once

#include <cstdint>
#include <string>

namespace halfwarp::core {

// A number for a new kernel, never used again: what the launch path writes instead of a name.
[[nodiscard]] std::uint32_t register_kernel_name(std::string name);

// The kernel is gone; its name is kept for some time more.
void retire_kernel_name(std::uint32_t number) noexcept;

// Empty when it is forgotten.
[[nodiscard]] std::string name_of_kernel(std::uint32_t number);

// For the child of a fork: begins anew where another thread was at the names in that moment.
void keep_kernel_names_after_fork() noexcept;

}  // namespace halfwarp::core
