// SPDX-License-Identifier: Apache-2.0
// Decodes a kernel and every function that it can reach.
#pragma once

#include <memory>

#include "emulator/exec/code.hpp"
#include "emulator/exec/program.hpp"

namespace halfwarp::emulator::exec {

// `entry` is an index in ptx::module::functions.
std::unique_ptr<kernel_code> decode_kernel(const program& owner, std::uint32_t entry);

}  // namespace halfwarp::emulator::exec
