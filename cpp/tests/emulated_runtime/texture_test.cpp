// SPDX-License-Identifier: Apache-2.0
// Textures: conversion of resources and sampling parameters to and from the driver.
#include "emulated_runtime/recording_driver.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class texture_test : public runtime_test {};

void* const memory = reinterpret_cast<void*>(0x1000);

cudaResourceDesc rows() {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  resource.res.pitch2D.width = 100;
  resource.res.pitch2D.height = 20;
  resource.res.pitch2D.pitchInBytes = 512;
  return resource;
}

cudaTextureDesc sampling() {
  cudaTextureDesc description{};
  description.addressMode[0] = cudaAddressModeClamp;
  description.addressMode[1] = cudaAddressModeBorder;
  description.filterMode = cudaFilterModeLinear;
  description.readMode = cudaReadModeElementType;
  description.normalizedCoords = 1;
  description.maxAnisotropy = 4;
  description.borderColor[2] = 0.5f;
  description.mipmapLevelBias = 1.5f;
  description.seamlessCubemap = 1;
  return description;
}

cudaError_t create(const cudaResourceDesc& resource, const cudaTextureDesc& texture) {
  cudaTextureObject_t object = 0;
  return cudaCreateTextureObject(&object, &resource, &texture, nullptr);
}

TEST_F(texture_test, rows_of_memory_retain_their_shape) {
  EXPECT_EQ(create(rows(), sampling()), cudaSuccess);
  EXPECT_EQ(recorded.resource.resType, CU_RESOURCE_TYPE_PITCH2D);
  EXPECT_EQ(recorded.resource.res.pitch2D.devPtr, reinterpret_cast<CUdeviceptr>(memory));
  EXPECT_EQ(recorded.resource.res.pitch2D.format, CU_AD_FORMAT_FLOAT);
  EXPECT_EQ(recorded.resource.res.pitch2D.pitchInBytes, 512u);
  cudaResourceDesc params{};
  EXPECT_EQ(cudaGetTextureObjectResourceDesc(&params, 5), cudaSuccess);
  EXPECT_EQ(params.resType, cudaResourceTypePitch2D);
  EXPECT_EQ(params.res.pitch2D.devPtr, memory);
  EXPECT_EQ(params.res.pitch2D.width, 100u);
  EXPECT_EQ(params.res.pitch2D.height, 20u);
  EXPECT_EQ(params.res.pitch2D.desc.x, 32);
}

TEST_F(texture_test, sampling_options_become_driver_flags) {
  EXPECT_EQ(create(rows(), sampling()), cudaSuccess);
  EXPECT_EQ(recorded.texture.flags,
            unsigned{CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                     CU_TRSF_SEAMLESS_CUBEMAP});
  EXPECT_EQ(recorded.texture.addressMode[1], CU_TR_ADDRESS_MODE_BORDER);
  EXPECT_EQ(recorded.texture.filterMode, CU_TR_FILTER_MODE_LINEAR);
  cudaTextureDesc params{};
  EXPECT_EQ(cudaGetTextureObjectTextureDesc(&params, 5), cudaSuccess);
  EXPECT_EQ(params.readMode, cudaReadModeElementType);
  EXPECT_EQ(params.normalizedCoords, 1);
  EXPECT_EQ(params.sRGB, 0);
  EXPECT_EQ(params.seamlessCubemap, 1);
  EXPECT_EQ(params.maxAnisotropy, 4u);
  EXPECT_EQ(params.borderColor[2], 0.5f);
  EXPECT_EQ(params.mipmapLevelBias, 1.5f);
}

TEST_F(texture_test, an_array_is_passed_by_its_handle) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = reinterpret_cast<cudaArray_t>(0x77);
  EXPECT_EQ(create(resource, sampling()), cudaSuccess);
  EXPECT_EQ(recorded.resource.res.array.hArray, reinterpret_cast<CUarray>(0x77));
}

TEST_F(texture_test, a_resource_without_a_format_is_refused) {
  cudaResourceDesc resource = rows();
  resource.res.pitch2D.desc.x = 24;
  EXPECT_EQ(create(resource, sampling()), cudaErrorInvalidChannelDescriptor);
  resource.resType = static_cast<cudaResourceType>(9);
  EXPECT_EQ(create(resource, sampling()), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing
