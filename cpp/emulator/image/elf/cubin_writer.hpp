// SPDX-License-Identifier: Apache-2.0
// Cubins that carry PTX, in the section where compilers put it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

// The cubin with that PTX in place of what it carries, all else where it was; as it is when its
// headers are damaged.
std::string with_ptx(bytes cubin, std::string_view ptx);

// A cubin that has no machine code. `architecture` is 90 for sm_90.
std::string cubin_of_ptx(std::uint32_t architecture, std::string_view ptx);

}  // namespace halfwarp::emulator::image
