// SPDX-License-Identifier: Apache-2.0
// Reads the register count of each kernel's machine code.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

// Maps symbols to register counts. Skips damaged entries.
using register_counts = std::map<std::string, std::uint32_t, std::less<>>;
register_counts find_register_counts(bytes cubin);

}  // namespace halfwarp::emulator::image
