// SPDX-License-Identifier: Apache-2.0
// Writes cubins that contain PTX in the debug section of compilers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

// Returns the cubin with its PTX replaced and everything else at its offset. Returns it unchanged
// if its headers are damaged.
std::string with_ptx(bytes cubin, std::string_view ptx);

// Returns a cubin without machine code. `architecture` is 90 for sm_90.
std::string cubin_of_ptx(std::uint32_t architecture, std::string_view ptx);

}  // namespace halfwarp::emulator::image
