// SPDX-License-Identifier: Apache-2.0
// Decompresses zstd data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

// Returns nullopt if the data is damaged, needs a dictionary, or does not decompress to exactly
// `size` bytes. Checksums are not compared.
std::optional<std::string> decompress_zstd(bytes data, std::uint64_t size);

}  // namespace halfwarp::emulator::image
