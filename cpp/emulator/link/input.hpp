// SPDX-License-Identifier: Apache-2.0
// Finds the PTX in the inputs of a linker.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/image/bytes.hpp"
#include "emulator/image/image.hpp"
#include "emulator/image/registry.hpp"
#include "emulator/link/ptx_linker.hpp"

namespace halfwarp::emulator::link {

// Appends the PTX of one input: PTX, a cubin, a fat binary, or a host object or library. Returns
// the error, if any.
std::optional<image::image_error> add_input(std::vector<ptx_input>& inputs, std::string_view name,
                                            image::bytes data, std::uint32_t architecture,
                                            image::cubin_registry& registry);

}  // namespace halfwarp::emulator::link
