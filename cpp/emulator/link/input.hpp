// SPDX-License-Identifier: Apache-2.0
// The PTX in what a linker is given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulator/image/bytes.hpp"
#include "emulator/image/registry.hpp"
#include "emulator/link/ptx_linker.hpp"

namespace halfwarp::emulator::link {

// Appends the PTX of one input, which may be PTX, a cubin, a fat binary, or a host object or
// library; what is wrong with it, or nothing.
std::string add_input(std::vector<ptx_input>& inputs, std::string_view name, image::bytes data,
                      std::uint32_t architecture, image::cubin_registry& registry);

}  // namespace halfwarp::emulator::link
