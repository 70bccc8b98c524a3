// SPDX-License-Identifier: Apache-2.0
// Conversion between channel descriptors and the driver's formats.
#include "emulated_runtime/api/texture/format.hpp"

#include <algorithm>
#include <tuple>

#include "emulated_runtime/recording_driver.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class format_test : public runtime_test {};

struct known {
  cudaChannelFormatDesc desc;
  CUarray_format format;
  unsigned channels;
};

constexpr known pairs[] = {
    {{8, 0, 0, 0, cudaChannelFormatKindUnsigned}, CU_AD_FORMAT_UNSIGNED_INT8, 1},
    {{16, 16, 0, 0, cudaChannelFormatKindSigned}, CU_AD_FORMAT_SIGNED_INT16, 2},
    {{32, 32, 32, 32, cudaChannelFormatKindFloat}, CU_AD_FORMAT_FLOAT, 4},
    {{16, 0, 0, 0, cudaChannelFormatKindFloat}, CU_AD_FORMAT_HALF, 1},
    {{8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4}, CU_AD_FORMAT_UNORM_INT8X4, 4},
    {{10, 10, 10, 2, cudaChannelFormatKindUnsignedNormalized1010102},
     CU_AD_FORMAT_UNORM_INT_101010_2,
     4},
    {{8, 8, 8, 8, cudaChannelFormatKindUnsignedBlockCompressed7}, CU_AD_FORMAT_BC7_UNORM, 4},
};

struct kind_row {
  CUarray_format format;
  cudaChannelFormatKind kind;
  int bits;  // of each channel
};

constexpr kind_row whole_formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
    {CU_AD_FORMAT_UNORM_INT8X1, cudaChannelFormatKindUnsignedNormalized8X1, 8},
    {CU_AD_FORMAT_UNORM_INT8X2, cudaChannelFormatKindUnsignedNormalized8X2, 8},
    {CU_AD_FORMAT_UNORM_INT8X4, cudaChannelFormatKindUnsignedNormalized8X4, 8},
    {CU_AD_FORMAT_UNORM_INT16X1, cudaChannelFormatKindUnsignedNormalized16X1, 16},
    {CU_AD_FORMAT_UNORM_INT16X2, cudaChannelFormatKindUnsignedNormalized16X2, 16},
    {CU_AD_FORMAT_UNORM_INT16X4, cudaChannelFormatKindUnsignedNormalized16X4, 16},
    {CU_AD_FORMAT_SNORM_INT8X1, cudaChannelFormatKindSignedNormalized8X1, 8},
    {CU_AD_FORMAT_SNORM_INT8X2, cudaChannelFormatKindSignedNormalized8X2, 8},
    {CU_AD_FORMAT_SNORM_INT8X4, cudaChannelFormatKindSignedNormalized8X4, 8},
    {CU_AD_FORMAT_SNORM_INT16X1, cudaChannelFormatKindSignedNormalized16X1, 16},
    {CU_AD_FORMAT_SNORM_INT16X2, cudaChannelFormatKindSignedNormalized16X2, 16},
    {CU_AD_FORMAT_SNORM_INT16X4, cudaChannelFormatKindSignedNormalized16X4, 16},
};
constexpr kind_row block_formats[] = {
    {CU_AD_FORMAT_NV12, cudaChannelFormatKindNV12, 8},
    {CU_AD_FORMAT_BC1_UNORM, cudaChannelFormatKindUnsignedBlockCompressed1, 8},
    {CU_AD_FORMAT_BC1_UNORM_SRGB, cudaChannelFormatKindUnsignedBlockCompressed1SRGB, 8},
    {CU_AD_FORMAT_BC2_UNORM, cudaChannelFormatKindUnsignedBlockCompressed2, 8},
    {CU_AD_FORMAT_BC2_UNORM_SRGB, cudaChannelFormatKindUnsignedBlockCompressed2SRGB, 8},
    {CU_AD_FORMAT_BC3_UNORM, cudaChannelFormatKindUnsignedBlockCompressed3, 8},
    {CU_AD_FORMAT_BC3_UNORM_SRGB, cudaChannelFormatKindUnsignedBlockCompressed3SRGB, 8},
    {CU_AD_FORMAT_BC4_UNORM, cudaChannelFormatKindUnsignedBlockCompressed4, 8},
    {CU_AD_FORMAT_BC4_SNORM, cudaChannelFormatKindSignedBlockCompressed4, 8},
    {CU_AD_FORMAT_BC5_UNORM, cudaChannelFormatKindUnsignedBlockCompressed5, 8},
    {CU_AD_FORMAT_BC5_SNORM, cudaChannelFormatKindSignedBlockCompressed5, 8},
    {CU_AD_FORMAT_BC6H_UF16, cudaChannelFormatKindUnsignedBlockCompressed6H, 16},
    {CU_AD_FORMAT_BC6H_SF16, cudaChannelFormatKindSignedBlockCompressed6H, 16},
    {CU_AD_FORMAT_BC7_UNORM, cudaChannelFormatKindUnsignedBlockCompressed7, 8},
    {CU_AD_FORMAT_BC7_UNORM_SRGB, cudaChannelFormatKindUnsignedBlockCompressed7SRGB, 8},
    {CU_AD_FORMAT_UINT8_PACKED_422, cudaChannelFormatKindUnsigned8Packed422, 8},
    {CU_AD_FORMAT_UINT8_PACKED_444, cudaChannelFormatKindUnsigned8Packed444, 8},
    {CU_AD_FORMAT_UINT8_SEMIPLANAR_420, cudaChannelFormatKindUnsigned8SemiPlanar420, 8},
    {CU_AD_FORMAT_UINT16_SEMIPLANAR_420, cudaChannelFormatKindUnsigned16SemiPlanar420, 16},
    {CU_AD_FORMAT_UINT8_SEMIPLANAR_422, cudaChannelFormatKindUnsigned8SemiPlanar422, 8},
    {CU_AD_FORMAT_UINT16_SEMIPLANAR_422, cudaChannelFormatKindUnsigned16SemiPlanar422, 16},
    {CU_AD_FORMAT_UINT8_SEMIPLANAR_444, cudaChannelFormatKindUnsigned8SemiPlanar444, 8},
    {CU_AD_FORMAT_UINT16_SEMIPLANAR_444, cudaChannelFormatKindUnsigned16SemiPlanar444, 16},
    {CU_AD_FORMAT_UINT8_PLANAR_420, cudaChannelFormatKindUnsigned8Planar420, 8},
    {CU_AD_FORMAT_UINT16_PLANAR_420, cudaChannelFormatKindUnsigned16Planar420, 16},
    {CU_AD_FORMAT_UINT8_PLANAR_422, cudaChannelFormatKindUnsigned8Planar422, 8},
    {CU_AD_FORMAT_UINT16_PLANAR_422, cudaChannelFormatKindUnsigned16Planar422, 16},
    {CU_AD_FORMAT_UINT8_PLANAR_444, cudaChannelFormatKindUnsigned8Planar444, 8},
    {CU_AD_FORMAT_UINT16_PLANAR_444, cudaChannelFormatKindUnsigned16Planar444, 16},
};

void expect_conversion(const kind_row& row) {
  for (unsigned channels = 1; channels <= 4; ++channels) {
    int widths[4] = {};
    std::fill_n(widths, channels, row.bits);
    const cudaChannelFormatDesc desc{widths[0], widths[1], widths[2], widths[3], row.kind};
    api::element_format format{};
    cudaChannelFormatDesc back{};
    EXPECT_EQ(api::to_format(desc, &format), cudaSuccess) << row.kind;
    EXPECT_EQ(format.format, row.format) << row.kind;
    EXPECT_EQ(format.channels, channels) << row.kind;
    EXPECT_EQ(api::to_descriptor({row.format, channels}, &back), cudaSuccess) << row.kind;
    EXPECT_EQ(std::tie(back.x, back.y, back.z, back.w, back.f),
              std::tie(desc.x, desc.y, desc.z, desc.w, desc.f))
        << row.kind;
  }
  cudaChannelFormatDesc out{};
  EXPECT_EQ(api::to_descriptor({row.format, 5}, &out), cudaErrorInvalidChannelDescriptor);
}

bool are_equal(const cudaChannelFormatDesc& a, const cudaChannelFormatDesc& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w && a.f == b.f;
}

TEST_F(format_test, descriptors_and_formats_convert_both_ways) {
  for (const auto& each : pairs) {
    api::element_format format{};
    cudaChannelFormatDesc back{};
    EXPECT_EQ(api::to_format(each.desc, &format), cudaSuccess);
    EXPECT_EQ(format.format, each.format);
    EXPECT_EQ(format.channels, each.channels);
    EXPECT_EQ(api::to_descriptor(format, &back), cudaSuccess);
    EXPECT_TRUE(are_equal(back, each.desc));
  }
}

TEST_F(format_test, each_kind_has_its_format_and_width) {
  for (const auto& row : whole_formats) expect_conversion(row);
  for (const auto& row : block_formats) expect_conversion(row);
  cudaChannelFormatDesc out{};
  const auto unknown = static_cast<CUarray_format>(0x7f);
  EXPECT_EQ(api::to_descriptor({unknown, 1}, &out), cudaErrorInvalidChannelDescriptor);
}

TEST_F(format_test, an_element_has_the_bytes_of_its_channels) {
  const auto array = reinterpret_cast<cudaArray_t>(0x77);
  std::size_t bytes = 0;
  for (const auto& row : whole_formats) {
    for (unsigned channels = 1; channels <= 4; ++channels) {
      recorded.array = {8, 8, 0, row.format, channels, 0};
      EXPECT_EQ(api::bytes_of_element(array, &bytes), cudaSuccess);
      EXPECT_EQ(bytes, channels * static_cast<std::size_t>(row.bits) / 8);
    }
  }
  recorded.array = {8, 8, 0, CU_AD_FORMAT_UNORM_INT_101010_2, 4, 0};
  EXPECT_EQ(api::bytes_of_element(array, &bytes), cudaSuccess);
  EXPECT_EQ(bytes, 4u);
  for (const auto& row : block_formats) {
    recorded.array = {8, 8, 0, row.format, 1, 0};
    EXPECT_EQ(api::bytes_of_element(array, &bytes), cudaErrorInvalidChannelDescriptor) << row.kind;
  }
  EXPECT_EQ(api::bytes_of_element(nullptr, &bytes), cudaErrorInvalidResourceHandle);
}

TEST_F(format_test, a_descriptor_without_a_format_is_refused) {
  constexpr cudaChannelFormatDesc wrong[] = {
      {0, 0, 0, 0, cudaChannelFormatKindFloat},
      {8, 0, 0, 0, cudaChannelFormatKindFloat},
      {8, 16, 0, 0, cudaChannelFormatKindSigned},
      {8, 0, 8, 0, cudaChannelFormatKindSigned},
      {64, 0, 0, 0, cudaChannelFormatKindSigned},
      {8, 8, 8, 8, cudaChannelFormatKindNone},
      {8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized1010102},
  };
  for (const auto& each : wrong) {
    api::element_format format{};
    EXPECT_EQ(api::to_format(each, &format), cudaErrorInvalidChannelDescriptor);
  }
}

TEST_F(format_test, an_array_has_the_requested_extent_and_flags) {
  const cudaChannelFormatDesc pixels = pairs[2].desc;
  cudaArray_t array = nullptr;
  EXPECT_EQ(cudaMallocArray(&array, &pixels, 64, 32, cudaArraySurfaceLoadStore), cudaSuccess);
  EXPECT_EQ(recorded.array.Width, 64u);
  EXPECT_EQ(recorded.array.Height, 32u);
  EXPECT_EQ(recorded.array.Depth, 0u);
  EXPECT_EQ(recorded.array.Flags, unsigned{CUDA_ARRAY3D_SURFACE_LDST});
  EXPECT_EQ(recorded.array.Format, CU_AD_FORMAT_FLOAT);
}

TEST_F(format_test, an_array_returns_its_description) {
  recorded.array = {64, 32, 3, CU_AD_FORMAT_SIGNED_INT16, 2, CUDA_ARRAY3D_LAYERED};
  cudaChannelFormatDesc pixels{};
  cudaExtent extent{};
  unsigned flags = 0;
  const auto array = reinterpret_cast<cudaArray_t>(0x77);
  EXPECT_EQ(cudaArrayGetInfo(&pixels, &extent, &flags, array), cudaSuccess);
  EXPECT_TRUE(are_equal(pixels, pairs[1].desc));
  EXPECT_EQ(extent.depth, 3u);
  EXPECT_EQ(flags, unsigned{cudaArrayLayered});
  EXPECT_EQ(cudaArrayGetInfo(nullptr, nullptr, nullptr, array), cudaSuccess);
  EXPECT_EQ(cudaArrayGetInfo(nullptr, nullptr, nullptr, nullptr), cudaErrorInvalidResourceHandle);
}

TEST_F(format_test, attributes_of_a_function_are_in_their_fields) {
  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, a_kernel()), cudaSuccess);
  EXPECT_EQ(attributes.numRegs, 100 + CU_FUNC_ATTRIBUTE_NUM_REGS);
  EXPECT_EQ(attributes.sharedSizeBytes, size_t{100 + CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES});
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, a_function()), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &attributes), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, nullptr), cudaErrorInvalidDeviceFunction);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing
