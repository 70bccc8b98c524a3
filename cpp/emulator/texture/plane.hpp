// SPDX-License-Identifier: Apache-2.0
// Fetches of a warp from a plane of numbers of 32 bits, the image of most kernels. What is equal
// for all threads is read once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/texture/binding.hpp"

namespace halfwarp::emulator::texture {

// Returns whether `fetch_plane` can fetch from an image: one level, without a conversion of its
// elements.
bool is_plain(const binding& source) noexcept;

// Returns whether the values of all threads of the mask are equal.
bool are_equal(std::uint32_t lanes, const std::uint64_t* values) noexcept;

// Stores the bits that `fetch` returns as first component for each of 32 threads. Threads that do
// not fetch may have any coordinates.
void fetch_plane(const binding& source, const std::byte* bytes, const float* x, const float* y,
                 std::uint32_t* to) noexcept;

}  // namespace halfwarp::emulator::texture
