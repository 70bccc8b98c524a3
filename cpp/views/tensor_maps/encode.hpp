// SPDX-License-Identifier: Apache-2.0
// Encodes tensor maps with the driver.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace halfwarp::views {

enum class map_kind : int { tiled, im2col, im2col_wide };

// Parameters of an encoding; dimensions in the driver's order, innermost first.
struct map_request {
  map_kind kind;
  std::uint32_t rank;
  std::uint64_t address;
  std::uint64_t extents[5];
  std::uint64_t strides[5];  // in bytes, without the innermost
  std::uint32_t box[5];
  std::uint32_t element_strides[5];
  int lower[3], upper[3];  // corners; a wide map uses only the width
  std::uint32_t channels, pixels;
  int data_type, interleave, swizzle, promotion, fill, mode;
};

// An encoded map, with the alignment of 64 bytes that the driver requires.
struct alignas(64) tensor_map {
  CUtensorMap native;
};

// Encodes a map, and sets `function` to the driver function's name for messages.
CUresult encode(const map_request& request, tensor_map& result, const char** function) noexcept;

CUresult replace_address(tensor_map& map, std::uint64_t address) noexcept;

}  // namespace halfwarp::views
