// SPDX-License-Identifier: Apache-2.0
// How many registers the machine code of each kernel uses, as the compiler wrote it down.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

// By symbol; nothing of what is damaged.
using register_counts = std::map<std::string, std::uint32_t, std::less<>>;
register_counts find_register_counts(bytes cubin);

}  // namespace halfwarp::emulator::image
