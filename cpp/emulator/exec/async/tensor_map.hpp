// SPDX-License-Identifier: Apache-2.0
// The private encoding of a tensor map: what the driver writes and what copies read.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace halfwarp::emulator::memory {

enum class tensor_map_kind : std::uint8_t { tiled = 1, im2col = 2 };

struct tensor_map {
  static constexpr std::uint32_t valid_signature = 0x70616d74;
  static constexpr int element_sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

  std::uint64_t address;
  std::uint64_t extents[5];
  std::uint64_t strides[4];  // in bytes, without the innermost dimension
  std::uint32_t signature;
  tensor_map_kind kind;
  std::uint8_t rank, data_type, interleave, swizzle, promotion, fill, mode;
  std::uint8_t element_strides[5];
  std::uint16_t box[5];  // box of a tiled map, else channels and pixels
  std::int16_t corners[6];
  std::uint64_t unused;
};
static_assert(sizeof(tensor_map) == sizeof(CUtensorMap));

}  // namespace halfwarp::emulator::memory
