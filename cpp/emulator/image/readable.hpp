// SPDX-License-Identifier: Apache-2.0
// Limits reads at a bare pointer to memory that is mapped.
#pragma once

#include <cstdint>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

// Returns the first `size` bytes at `start`, or fewer if the memory ends before. The headers of an
// image of unknown length may name any size, and reading beyond the memory would be a crash.
bytes readable_part(const std::byte* start, std::uint64_t size) noexcept;

}  // namespace halfwarp::emulator::image
