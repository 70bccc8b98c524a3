// SPDX-License-Identifier: Apache-2.0
// Tensor maps, checked as the driver does and stored in a private encoding.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "emulator/api/call.hpp"
#include "emulator/exec/async/tensor_map.hpp"

namespace halfwarp::emulator::api {
namespace {

using encoded_map = memory::tensor_map;
using memory::tensor_map_kind;

constexpr auto& element_sizes = encoded_map::element_sizes;
constexpr int type_count = sizeof(element_sizes) / sizeof(element_sizes[0]);

// Parameters that all kinds of maps share.
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

// The documentation requires an alignment of 64 bytes, but NVIDIA's cuda.core passes Python
// objects, whose alignment is 16. This check accepts both.
bool is_map_aligned(const CUtensorMap* map) noexcept {
  return map && reinterpret_cast<std::uintptr_t>(map) % 16 == 0;
}

bool are_valid(const common_parameters& p, cuuint32_t minimum_rank) noexcept {
  if (!is_map_aligned(p.map)) return false;
  if (!p.extents || !p.element_strides || !are_enumerators_known(p)) return false;
  if (p.rank < minimum_rank || p.rank > 5) return false;
  const bool is_wide = p.interleave == CU_TENSOR_MAP_INTERLEAVE_32B;
  if (p.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE && p.rank < 3) return false;
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

// Returns whether interleaving and swizzling allow a box row of `bytes` bytes.
bool is_row_valid(const common_parameters& p, std::uint64_t bytes) noexcept {
  if (bytes % 16 != 0) return false;
  if (p.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return true;
  if (p.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE) return true;
  return bytes <= std::uint64_t{16} << p.swizzle;  // 32, 64 or 128
}

encoded_map encode(const common_parameters& p, tensor_map_kind kind) noexcept {
  encoded_map encoded{};
  encoded.address = reinterpret_cast<std::uint64_t>(p.address);
  encoded.signature = encoded_map::valid_signature;
  encoded.kind = kind;
  encoded.rank = static_cast<std::uint8_t>(p.rank);
  encoded.data_type = static_cast<std::uint8_t>(p.type);
  encoded.interleave = static_cast<std::uint8_t>(p.interleave);
  encoded.swizzle = static_cast<std::uint8_t>(p.swizzle);
  encoded.promotion = static_cast<std::uint8_t>(p.promotion);
  encoded.fill = static_cast<std::uint8_t>(p.fill);
  std::copy_n(p.extents, p.rank, encoded.extents);
  std::copy_n(p.strides, p.rank - 1, encoded.strides);
  std::transform(p.element_strides, p.element_strides + p.rank, encoded.element_strides,
                 [](cuuint32_t stride) { return static_cast<std::uint8_t>(stride); });
  return encoded;
}

CUresult store(CUtensorMap* map, const encoded_map& encoded) noexcept {
  std::memcpy(map, &encoded, sizeof(encoded));
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
  const std::uint64_t row = std::uint64_t{boxDim[0]} * element_sizes[tensorDataType];
  if (!is_row_valid(p, row)) return CUDA_ERROR_INVALID_VALUE;
  encoded_map encoded = encode(p, tensor_map_kind::tiled);
  std::transform(boxDim, boxDim + tensorRank, encoded.box,
                 [](cuuint32_t extent) { return static_cast<std::uint16_t>(extent); });
  return store(tensorMap, encoded);
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
      !are_pixels_valid(channelsPerPixel, pixelsPerColumn) ||
      !is_row_valid(p, std::uint64_t{channelsPerPixel} * element_sizes[tensorDataType])) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const int bits = tensorRank == 3 ? 16 : tensorRank == 4 ? 8 : 5;
  const int limit = 1 << (bits - 1);
  encoded_map encoded = encode(p, tensor_map_kind::im2col);
  for (cuuint32_t i = 0; i + 2 < tensorRank; ++i) {
    for (const int corner : {pixelBoxLowerCorner[i], pixelBoxUpperCorner[i]}) {
      if (corner < -limit || corner >= limit) return CUDA_ERROR_INVALID_VALUE;
    }
    encoded.corners[i] = static_cast<std::int16_t>(pixelBoxLowerCorner[i]);
    encoded.corners[3 + i] = static_cast<std::int16_t>(pixelBoxUpperCorner[i]);
  }
  encoded.box[0] = static_cast<std::uint16_t>(channelsPerPixel);
  encoded.box[1] = static_cast<std::uint16_t>(pixelsPerColumn);
  return store(tensorMap, encoded);
}

// Needs compute capability 10, which no emulated device has.
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                     const cuuint64_t*, const cuuint64_t*, int, int, cuuint32_t,
                                     cuuint32_t, const cuuint32_t*, CUtensorMapInterleave,
                                     CUtensorMapIm2ColWideMode, CUtensorMapSwizzle,
                                     CUtensorMapL2promotion, CUtensorMapFloatOOBfill) noexcept {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensorMap, void* globalAddress) noexcept {
  encoded_map encoded;
  if (!is_map_aligned(tensorMap)) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(&encoded, tensorMap, sizeof(encoded));
  const std::uintptr_t alignment = encoded.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
  const auto address = reinterpret_cast<std::uintptr_t>(globalAddress);
  if (encoded.signature != encoded_map::valid_signature || address == 0 ||
      address % alignment != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  encoded.address = address;
  return store(tensorMap, encoded);
}

}  // namespace halfwarp::emulator::api
