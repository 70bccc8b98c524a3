// SPDX-License-Identifier: Apache-2.0
// Conversion between channel descriptors and the driver's formats.
#include "emulated_runtime/api/texture/format.hpp"

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
