// SPDX-License-Identifier: Apache-2.0
// The runtime library for kernels: launches, streams, events, copies and memory.
#pragma once

#include <string_view>

#include "emulator/exec/builtin/builtin.hpp"

namespace halfwarp::emulator::exec {

// Returns a function by the name that a compiler calls, with the prefix "__cudaCDP2" or "cuda".
const builtin_function* find_device_runtime(std::string_view name) noexcept;

}  // namespace halfwarp::emulator::exec
