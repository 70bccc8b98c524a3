// SPDX-License-Identifier: Apache-2.0
// Textures: what is sampled and how, as the driver is told and as it tells.
#include "emulated_runtime/noting_driver.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class texture_test : public runtime_test {};

void* const memory = reinterpret_cast<void*>(0x1000);

cudaResourceDesc rows() {
  cudaResourceDesc made{};
  made.resType = cudaResourceTypePitch2D;
  made.res.pitch2D.devPtr = memory;
  made.res.pitch2D.desc = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  made.res.pitch2D.width = 100;
  made.res.pitch2D.height = 20;
  made.res.pitch2D.pitchInBytes = 512;
  return made;
}

cudaTextureDesc sampling() {
  cudaTextureDesc made{};
  made.addressMode[0] = cudaAddressModeClamp;
  made.addressMode[1] = cudaAddressModeBorder;
  made.filterMode = cudaFilterModeLinear;
  made.readMode = cudaReadModeElementType;
  made.normalizedCoords = 1;
  made.maxAnisotropy = 4;
  made.borderColor[2] = 0.5f;
  made.mipmapLevelBias = 1.5f;
  made.seamlessCubemap = 1;
  return made;
}

cudaError_t create(const cudaResourceDesc& resource, const cudaTextureDesc& texture) {
  cudaTextureObject_t made = 0;
  return cudaCreateTextureObject(&made, &resource, &texture, nullptr);
}

TEST_F(texture_test, rows_of_memory_keep_their_shape) {
  EXPECT_EQ(create(rows(), sampling()), cudaSuccess);
  EXPECT_EQ(noted.resource.resType, CU_RESOURCE_TYPE_PITCH2D);
  EXPECT_EQ(noted.resource.res.pitch2D.devPtr, reinterpret_cast<CUdeviceptr>(memory));
  EXPECT_EQ(noted.resource.res.pitch2D.format, CU_AD_FORMAT_FLOAT);
  EXPECT_EQ(noted.resource.res.pitch2D.pitchInBytes, 512u);
  cudaResourceDesc told{};
  EXPECT_EQ(cudaGetTextureObjectResourceDesc(&told, 5), cudaSuccess);
  EXPECT_EQ(told.resType, cudaResourceTypePitch2D);
  EXPECT_EQ(told.res.pitch2D.devPtr, memory);
  EXPECT_EQ(told.res.pitch2D.width, 100u);
  EXPECT_EQ(told.res.pitch2D.height, 20u);
  EXPECT_EQ(told.res.pitch2D.desc.x, 32);
}

TEST_F(texture_test, ways_of_sampling_are_flags_of_the_driver) {
  EXPECT_EQ(create(rows(), sampling()), cudaSuccess);
  EXPECT_EQ(noted.texture.flags, unsigned{CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                                          CU_TRSF_SEAMLESS_CUBEMAP});
  EXPECT_EQ(noted.texture.addressMode[1], CU_TR_ADDRESS_MODE_BORDER);
  EXPECT_EQ(noted.texture.filterMode, CU_TR_FILTER_MODE_LINEAR);
  cudaTextureDesc told{};
  EXPECT_EQ(cudaGetTextureObjectTextureDesc(&told, 5), cudaSuccess);
  EXPECT_EQ(told.readMode, cudaReadModeElementType);
  EXPECT_EQ(told.normalizedCoords, 1);
  EXPECT_EQ(told.sRGB, 0);
  EXPECT_EQ(told.seamlessCubemap, 1);
  EXPECT_EQ(told.maxAnisotropy, 4u);
  EXPECT_EQ(told.borderColor[2], 0.5f);
  EXPECT_EQ(told.mipmapLevelBias, 1.5f);
}

TEST_F(texture_test, an_array_is_passed_by_its_handle) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = reinterpret_cast<cudaArray_t>(0x77);
  EXPECT_EQ(create(resource, sampling()), cudaSuccess);
  EXPECT_EQ(noted.resource.res.array.hArray, reinterpret_cast<CUarray>(0x77));
}

TEST_F(texture_test, what_has_no_format_is_refused) {
  cudaResourceDesc resource = rows();
  resource.res.pitch2D.desc.x = 24;
  EXPECT_EQ(create(resource, sampling()), cudaErrorInvalidChannelDescriptor);
  resource.resType = static_cast<cudaResourceType>(9);
  EXPECT_EQ(create(resource, sampling()), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing
