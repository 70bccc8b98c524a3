// SPDX-License-Identifier: Apache-2.0
// Tensor maps as the driver encodes them.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace halfwarp::views {

enum class map_kind : int { tiled, im2col, im2col_wide };

// What is encoded; dimensions in the driver's order, the innermost first.
struct map_request {
  map_kind kind;
  std::uint32_t rank;
  std::uint64_t address;
  std::uint64_t extents[5];
  std::uint64_t strides[5];  // in bytes, the innermost left out
  std::uint32_t box[5];
  std::uint32_t element_strides[5];
  int lower[3], upper[3];  // corners; the width alone of a wide map
  std::uint32_t channels, pixels;
  int data_type, interleave, swizzle, promotion, fill, mode;
};

// The map lies where the driver wants it: at a multiple of 64.
struct alignas(64) tensor_map {
  CUtensorMap native;
};

// The name of the function is for messages.
CUresult encode(const map_request& request, tensor_map& made, const char** function) noexcept;

CUresult replace_address(tensor_map& map, std::uint64_t address) noexcept;

}  // namespace halfwarp::views
