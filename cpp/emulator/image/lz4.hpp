// SPDX-License-Identifier: Apache-2.0
// Decompresses one LZ4 block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

// Returns nullopt if the block is damaged or does not decompress to exactly `size` bytes.
std::optional<std::string> decompress_lz4(bytes block, std::uint64_t size);

}  // namespace halfwarp::emulator::image
