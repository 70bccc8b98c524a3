// SPDX-License-Identifier: Apache-2.0
// Tensor maps: checked as the driver does, and kept in a form of our own. No kernel reads them
// here: bulk copies are refused where they are executed.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "emulator/api/call.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr std::uint32_t mark = 0x70616d74;

// What the 128 bytes hold.
struct encoded_map {
  std::uint64_t address;
  std::uint64_t extents[5];
  std::uint64_t strides[4];  // in bytes, of all dimensions but the innermost
  std::uint32_t mark;
  std::uint8_t kind, rank, data_type, interleave, swizzle, promotion, fill, mode;
  std::uint8_t element_strides[5];
  std::uint16_t box[5];  // tiled; else pixels and channels
  std::int16_t corners[6];
  std::uint64_t unused;
};
static_assert(sizeof(encoded_map) == sizeof(CUtensorMap));

constexpr int sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr int type_count = sizeof(sizes) / sizeof(sizes[0]);

// What all kinds of maps have in common.
struct common_parameters {
  CUtensorMap* map;
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t* extents;
  const cuuint64_t* strides;
  const cuuint32_t* element_strides;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

bool is_floating(CUtensorMapDataType type) noexcept {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && static_cast<int>(type) < type_count;
}

bool are_enumerators_known(const common_parameters& p) noexcept {
  if (p.type < 0 || static_cast<int>(p.type) >= type_count) return false;
  if (p.interleave < 0 || p.interleave > CU_TENSOR_MAP_INTERLEAVE_32B) return false;
  if (p.swizzle < 0 || p.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return false;
  if (p.promotion < 0 || p.promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B) return false;
  if (p.fill < 0 || p.fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA) return false;
  return p.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || is_floating(p.type);
}

// The documentation asks for a multiple of 64, but NVIDIA's own cuda.core passes objects of Python,
// which lie at multiples of 16: no more is asked for here.
bool is_place_valid(const CUtensorMap* map) noexcept {
  return map && reinterpret_cast<std::uintptr_t>(map) % 16 == 0;
}

bool are_valid(const common_parameters& p, cuuint32_t least_rank) noexcept {
  if (!is_place_valid(p.map)) return false;
  if (!p.extents || !p.element_strides || !are_enumerators_known(p)) return false;
  if (p.rank < least_rank || p.rank > 5) return false;
  const bool is_wide = p.interleave == CU_TENSOR_MAP_INTERLEAVE_32B;
  if (p.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE && p.rank < 3) return false;
  if (is_wide && p.swizzle != CU_TENSOR_MAP_SWIZZLE_32B) return false;
  const std::uintptr_t alignment = is_wide ? 32 : 16;
  if (!p.address || reinterpret_cast<std::uintptr_t>(p.address) % alignment != 0) return false;
  for (cuuint32_t i = 0; i < p.rank; ++i) {
    if (p.extents[i] == 0 || p.extents[i] > std::uint64_t{1} << 32) return false;
    if (p.element_strides[i] == 0 || p.element_strides[i] > 8) return false;
  }
  if (p.rank > 1 && !p.strides) return false;
  for (cuuint32_t i = 0; i + 1 < p.rank; ++i) {
    if (p.strides[i] % alignment != 0 || p.strides[i] >= std::uint64_t{1} << 40) return false;
  }
  return true;
}

// Whether the innermost row of a box, in bytes, is what interleaving and swizzling take.
bool is_row_valid(const common_parameters& p, std::uint64_t bytes) noexcept {
  if (p.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return true;
  if (bytes % 16 != 0) return false;
  if (p.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE) return true;
  return bytes <= std::uint64_t{16} << p.swizzle;  // 32, 64 or 128
}

encoded_map encode(const common_parameters& p, std::uint8_t kind) noexcept {
  encoded_map made{};
  made.address = reinterpret_cast<std::uint64_t>(p.address);
  made.mark = mark;
  made.kind = kind;
  made.rank = static_cast<std::uint8_t>(p.rank);
  made.data_type = static_cast<std::uint8_t>(p.type);
  made.interleave = static_cast<std::uint8_t>(p.interleave);
  made.swizzle = static_cast<std::uint8_t>(p.swizzle);
  made.promotion = static_cast<std::uint8_t>(p.promotion);
  made.fill = static_cast<std::uint8_t>(p.fill);
  std::copy_n(p.extents, p.rank, made.extents);
  std::copy_n(p.strides, p.rank - 1, made.strides);
  std::transform(p.element_strides, p.element_strides + p.rank, made.element_strides,
                 [](cuuint32_t stride) { return static_cast<std::uint8_t>(stride); });
  return made;
}

CUresult store(CUtensorMap* map, const encoded_map& made) noexcept {
  std::memcpy(map, &made, sizeof(made));
  return CUDA_SUCCESS;
}

bool are_pixels_valid(cuuint32_t channels, cuuint32_t pixels) noexcept {
  return channels >= 1 && channels <= 256 && pixels >= 1 && pixels <= 1024;
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                cuuint32_t tensorRank, void* globalAddress,
                                const cuuint64_t* globalDim, const cuuint64_t* globalStrides,
                                const cuuint32_t* boxDim, const cuuint32_t* elementStrides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2Promotion,
                                CUtensorMapFloatOOBfill oobFill) noexcept {
  const common_parameters p{tensorMap, tensorDataType, tensorRank,     globalAddress,
                            globalDim, globalStrides,  elementStrides, interleave,
                            swizzle,   l2Promotion,    oobFill};
  if (!are_valid(p, 1) || !boxDim) return CUDA_ERROR_INVALID_VALUE;
  const auto is_extent = [](cuuint32_t extent) { return extent >= 1 && extent <= 256; };
  if (!std::all_of(boxDim, boxDim + tensorRank, is_extent)) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t row = std::uint64_t{boxDim[0]} * sizes[tensorDataType];
  if (!is_row_valid(p, row)) return CUDA_ERROR_INVALID_VALUE;
  encoded_map made = encode(p, 1);
  std::transform(boxDim, boxDim + tensorRank, made.box,
                 [](cuuint32_t extent) { return static_cast<std::uint16_t>(extent); });
  return store(tensorMap, made);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                 cuuint32_t tensorRank, void* globalAddress,
                                 const cuuint64_t* globalDim, const cuuint64_t* globalStrides,
                                 const int* pixelBoxLowerCorner, const int* pixelBoxUpperCorner,
                                 cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                 const cuuint32_t* elementStrides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                 CUtensorMapFloatOOBfill oobFill) noexcept {
  const common_parameters p{tensorMap, tensorDataType, tensorRank,     globalAddress,
                            globalDim, globalStrides,  elementStrides, interleave,
                            swizzle,   l2Promotion,    oobFill};
  if (!are_valid(p, 3) || !pixelBoxLowerCorner || !pixelBoxUpperCorner ||
      !are_pixels_valid(channelsPerPixel, pixelsPerColumn)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const int bits = tensorRank == 3 ? 16 : tensorRank == 4 ? 8 : 5;
  const int limit = 1 << (bits - 1);
  encoded_map made = encode(p, 2);
  for (cuuint32_t i = 0; i + 2 < tensorRank; ++i) {
    for (const int corner : {pixelBoxLowerCorner[i], pixelBoxUpperCorner[i]}) {
      if (corner < -limit || corner >= limit) return CUDA_ERROR_INVALID_VALUE;
    }
    made.corners[i] = static_cast<std::int16_t>(pixelBoxLowerCorner[i]);
    made.corners[3 + i] = static_cast<std::int16_t>(pixelBoxUpperCorner[i]);
  }
  made.box[0] = static_cast<std::uint16_t>(channelsPerPixel);
  made.box[1] = static_cast<std::uint16_t>(pixelsPerColumn);
  return store(tensorMap, made);
}

// For devices of compute capability 10 and newer, which no emulated one is.
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                     const cuuint64_t*, const cuuint64_t*, int, int, cuuint32_t,
                                     cuuint32_t, const cuuint32_t*, CUtensorMapInterleave,
                                     CUtensorMapIm2ColWideMode, CUtensorMapSwizzle,
                                     CUtensorMapL2promotion, CUtensorMapFloatOOBfill) noexcept {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensorMap, void* globalAddress) noexcept {
  encoded_map held;
  if (!is_place_valid(tensorMap)) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(&held, tensorMap, sizeof(held));
  const std::uintptr_t alignment = held.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
  const auto address = reinterpret_cast<std::uintptr_t>(globalAddress);
  if (held.mark != mark || address == 0 || address % alignment != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  held.address = address;
  return store(tensorMap, held);
}

}  // namespace halfwarp::emulator::api
