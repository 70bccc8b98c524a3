// SPDX-License-Identifier: Apache-2.0
// The private encoding of a tensor map: what the driver writes and what copies read.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <iterator>

namespace halfwarp::emulator::memory {

enum class tensor_map_kind : std::uint8_t { tiled, im2col };

// A kernel may build a map in 128 zeroed bytes with tensormap.replace; its signature stays 0.
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

  bool has_tf32() const {
    return data_type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 ||
           data_type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
  }

  bool is_flushed() const {
    return data_type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ ||
           data_type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
  }

  // Reports if a copy can use the map: the memory is the program's, and may hold anything.
  bool is_complete() const {
    bool complete =
        (signature == valid_signature || signature == 0) && rank >= 1 && rank <= 5 &&
        kind <= tensor_map_kind::im2col && data_type < std::size(element_sizes) &&
        swizzle <= CU_TENSOR_MAP_SWIZZLE_128B && fill <= 1 &&
        interleave <= (rank < 3 ? CU_TENSOR_MAP_INTERLEAVE_NONE : CU_TENSOR_MAP_INTERLEAVE_32B);
    for (int i = 0; complete && i < rank; ++i) complete = element_strides[i] >= 1;
    const int box_sizes = kind == tensor_map_kind::tiled ? rank : 2;
    for (int i = 0; complete && i < box_sizes; ++i) complete = box[i] >= 1;
    return complete;
  }
};
static_assert(sizeof(tensor_map) == sizeof(CUtensorMap));

}  // namespace halfwarp::emulator::memory
