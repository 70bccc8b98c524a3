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

struct option {
  int cudaTextureDesc::*field;
  unsigned flag;
};

TEST_F(texture_test, each_option_has_its_flag) {
  constexpr option options[] = {
      {&cudaTextureDesc::normalizedCoords, CU_TRSF_NORMALIZED_COORDINATES},
      {&cudaTextureDesc::sRGB, CU_TRSF_SRGB},
      {&cudaTextureDesc::disableTrilinearOptimization, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION},
      {&cudaTextureDesc::seamlessCubemap, CU_TRSF_SEAMLESS_CUBEMAP},
  };
  for (const auto& [field, flag] : options) {
    cudaTextureDesc texture{}, back{};
    texture.readMode = cudaReadModeNormalizedFloat;
    texture.*field = 1;
    EXPECT_EQ(create(rows(), texture), cudaSuccess);
    EXPECT_EQ(recorded.texture.flags, flag);
    EXPECT_EQ(cudaGetTextureObjectTextureDesc(&back, 5), cudaSuccess);
    EXPECT_EQ(back.readMode, cudaReadModeNormalizedFloat);
    for (const auto& [other, other_flag] : options) EXPECT_EQ(back.*other, other_flag == flag);
  }
}

TEST_F(texture_test, levels_and_filters_are_kept) {
  cudaTextureDesc texture = sampling(), back{};
  texture.mipmapFilterMode = cudaFilterModeLinear;
  texture.minMipmapLevelClamp = 2.5f;
  texture.maxMipmapLevelClamp = 7.5f;
  EXPECT_EQ(create(rows(), texture), cudaSuccess);
  EXPECT_EQ(recorded.texture.mipmapFilterMode, CU_TR_FILTER_MODE_LINEAR);
  EXPECT_EQ(recorded.texture.maxAnisotropy, 4u);
  EXPECT_EQ(cudaGetTextureObjectTextureDesc(&back, 5), cudaSuccess);
  EXPECT_EQ(back.filterMode, cudaFilterModeLinear);
  EXPECT_EQ(back.mipmapFilterMode, cudaFilterModeLinear);
  EXPECT_EQ(back.minMipmapLevelClamp, 2.5f);
  EXPECT_EQ(back.maxMipmapLevelClamp, 7.5f);
  EXPECT_EQ(back.addressMode[1], cudaAddressModeBorder);
  EXPECT_EQ(cudaGetTextureObjectTextureDesc(nullptr, 5), cudaErrorInvalidValue);
}

TEST_F(texture_test, each_resource_is_read_back) {
  cudaResourceDesc resource{}, back{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {memory, {8, 8, 0, 0, cudaChannelFormatKindSigned}, 640};
  EXPECT_EQ(create(resource, sampling()), cudaSuccess);
  EXPECT_EQ(recorded.resource.res.linear.format, CU_AD_FORMAT_SIGNED_INT8);
  EXPECT_EQ(recorded.resource.res.linear.numChannels, 2u);
  EXPECT_EQ(cudaGetTextureObjectResourceDesc(&back, 5), cudaSuccess);
  EXPECT_EQ(back.resType, cudaResourceTypeLinear);
  EXPECT_EQ(back.res.linear.devPtr, memory);
  EXPECT_EQ(back.res.linear.sizeInBytes, 640u);
  EXPECT_EQ(back.res.linear.desc.y, 8);
  resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(0x78);
  EXPECT_EQ(create(resource, sampling()), cudaSuccess);
  EXPECT_EQ(cudaGetTextureObjectResourceDesc(&back, 5), cudaSuccess);
  EXPECT_EQ(back.resType, cudaResourceTypeMipmappedArray);
  EXPECT_EQ(back.res.mipmap.mipmap, resource.res.mipmap.mipmap);
  EXPECT_EQ(cudaGetTextureObjectResourceDesc(nullptr, 5), cudaErrorInvalidValue);
  recorded.resource.resType = static_cast<CUresourcetype>(9);
  EXPECT_EQ(cudaGetTextureObjectResourceDesc(&back, 5), cudaErrorUnknown);
}

TEST_F(texture_test, null_descriptions_are_refused) {
  const cudaResourceDesc resource = rows();
  const cudaTextureDesc texture = sampling();
  cudaTextureObject_t object = 0;
  EXPECT_EQ(cudaCreateTextureObject(nullptr, &resource, &texture, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaCreateTextureObject(&object, nullptr, &texture, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaCreateTextureObject(&object, &resource, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaCreateSurfaceObject(nullptr, &resource), cudaErrorInvalidValue);
  EXPECT_EQ(cudaCreateSurfaceObject(&object, nullptr), cudaErrorInvalidValue);
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
