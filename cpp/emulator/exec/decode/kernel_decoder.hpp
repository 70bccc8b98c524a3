// SPDX-License-Identifier: Apache-2.0
// Decodes a kernel and every function that it can reach.
#pragma once

#include <cstdint>

#include "emulator/exec/code.hpp"
#include "emulator/exec/program.hpp"

namespace halfwarp::emulator::exec {

// Decodes the kernel on the first call. `entry` is an index in ptx::module::functions. Thread-safe.
const kernel_code& code_of(const program& owner, std::uint32_t entry);

}  // namespace halfwarp::emulator::exec
