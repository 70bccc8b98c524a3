// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects.
#include <algorithm>

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/texture/format.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

cudaError_t write_resource(const cudaResourceDesc& source, CUDA_RESOURCE_DESC* result) {
  element_format format{};
  *result = {};
  result->resType = static_cast<CUresourcetype>(source.resType);
  result->flags = source.flags;
  switch (source.resType) {
    case cudaResourceTypeArray:
      result->res.array.hArray = as_driver<CUarray>(source.res.array.array);
      return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
      result->res.mipmap.hMipmappedArray = as_driver<CUmipmappedArray>(source.res.mipmap.mipmap);
      return cudaSuccess;
    case cudaResourceTypeLinear: {
      const auto& linear = source.res.linear;
      if (const cudaError_t code = to_format(linear.desc, &format)) return code;
      result->res.linear = {as_driver<CUdeviceptr>(linear.devPtr), format.format, format.channels,
                            linear.sizeInBytes};
      return cudaSuccess;
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = source.res.pitch2D;
      if (const cudaError_t code = to_format(rows.desc, &format)) return code;
      result->res.pitch2D = {as_driver<CUdeviceptr>(rows.devPtr),
                             format.format,
                             format.channels,
                             rows.width,
                             rows.height,
                             rows.pitchInBytes};
      return cudaSuccess;
    }
  }
  return cudaErrorInvalidValue;
}

cudaError_t read_resource(const CUDA_RESOURCE_DESC& source, cudaResourceDesc* result) {
  *result = {};
  result->resType = static_cast<cudaResourceType>(source.resType);
  result->flags = source.flags;
  switch (result->resType) {
    case cudaResourceTypeArray:
      result->res.array.array = reinterpret_cast<cudaArray_t>(source.res.array.hArray);
      return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
      result->res.mipmap.mipmap =
          reinterpret_cast<cudaMipmappedArray_t>(source.res.mipmap.hMipmappedArray);
      return cudaSuccess;
    case cudaResourceTypeLinear: {
      const auto& linear = source.res.linear;
      result->res.linear.devPtr = reinterpret_cast<void*>(linear.devPtr);
      result->res.linear.sizeInBytes = linear.sizeInBytes;
      return to_descriptor({linear.format, linear.numChannels}, &result->res.linear.desc);
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = source.res.pitch2D;
      result->res.pitch2D.devPtr = reinterpret_cast<void*>(rows.devPtr);
      result->res.pitch2D.width = rows.width;
      result->res.pitch2D.height = rows.height;
      result->res.pitch2D.pitchInBytes = rows.pitchInBytes;
      return to_descriptor({rows.format, rows.numChannels}, &result->res.pitch2D.desc);
    }
  }
  return cudaErrorUnknown;
}

unsigned flag(unsigned bits, bool is_set) { return is_set ? bits : 0; }

CUDA_TEXTURE_DESC write_texture(const cudaTextureDesc& source) {
  CUDA_TEXTURE_DESC result{};
  std::ranges::transform(source.addressMode, result.addressMode,
                         [](auto mode) { return as_driver<CUaddress_mode>(mode); });
  result.filterMode = as_driver<CUfilter_mode>(source.filterMode);
  result.flags = flag(CU_TRSF_READ_AS_INTEGER, source.readMode == cudaReadModeElementType) |
                 flag(CU_TRSF_NORMALIZED_COORDINATES, source.normalizedCoords) |
                 flag(CU_TRSF_SRGB, source.sRGB) |
                 flag(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION, source.disableTrilinearOptimization) |
                 flag(CU_TRSF_SEAMLESS_CUBEMAP, source.seamlessCubemap);
  result.maxAnisotropy = source.maxAnisotropy;
  result.mipmapFilterMode = as_driver<CUfilter_mode>(source.mipmapFilterMode);
  result.mipmapLevelBias = source.mipmapLevelBias;
  result.minMipmapLevelClamp = source.minMipmapLevelClamp;
  result.maxMipmapLevelClamp = source.maxMipmapLevelClamp;
  std::ranges::copy(source.borderColor, result.borderColor);
  return result;
}

cudaTextureDesc read_texture(const CUDA_TEXTURE_DESC& source) {
  cudaTextureDesc result{};
  std::ranges::transform(source.addressMode, result.addressMode,
                         [](auto mode) { return static_cast<cudaTextureAddressMode>(mode); });
  result.filterMode = static_cast<cudaTextureFilterMode>(source.filterMode);
  result.readMode = source.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType
                                                           : cudaReadModeNormalizedFloat;
  result.normalizedCoords = (source.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  result.sRGB = (source.flags & CU_TRSF_SRGB) != 0;
  result.disableTrilinearOptimization =
      (source.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  result.seamlessCubemap = (source.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  result.maxAnisotropy = source.maxAnisotropy;
  result.mipmapFilterMode = static_cast<cudaTextureFilterMode>(source.mipmapFilterMode);
  result.mipmapLevelBias = source.mipmapLevelBias;
  result.minMipmapLevelClamp = source.minMipmapLevelClamp;
  result.maxMipmapLevelClamp = source.maxMipmapLevelClamp;
  std::ranges::copy(source.borderColor, result.borderColor);
  return result;
}

template <class Object>
cudaError_t resource_of(CUresult (*query)(CUDA_RESOURCE_DESC*, Object), Object object,
                        cudaResourceDesc* out) {
  CUDA_RESOURCE_DESC descriptor{};
  if (!out) return cudaErrorInvalidValue;
  if (const cudaError_t code = forward(query, &descriptor, object)) return code;
  return read_resource(descriptor, out);
}

}  // namespace

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* pTexObject,
                                    const cudaResourceDesc* pResDesc,
                                    const cudaTextureDesc* pTexDesc,
                                    const cudaResourceViewDesc* pResViewDesc) noexcept {
  CUDA_RESOURCE_DESC resource;
  if (!pTexObject || !pResDesc || !pTexDesc) return cudaErrorInvalidValue;
  if (const cudaError_t code = write_resource(*pResDesc, &resource)) return code;
  const CUDA_TEXTURE_DESC texture = write_texture(*pTexDesc);
  return forward(table->cuTexObjectCreate, pTexObject, &resource, &texture, pResViewDesc);
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* pResDesc,
                                             cudaTextureObject_t texObject) noexcept {
  return resource_of<CUtexObject>(table->cuTexObjectGetResourceDesc, texObject, pResDesc);
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* pTexDesc,
                                            cudaTextureObject_t texObject) noexcept {
  CUDA_TEXTURE_DESC descriptor{};
  if (!pTexDesc) return cudaErrorInvalidValue;
  if (const cudaError_t code = forward(table->cuTexObjectGetTextureDesc, &descriptor, texObject)) {
    return code;
  }
  *pTexDesc = read_texture(descriptor);
  return cudaSuccess;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* pSurfObject,
                                    const cudaResourceDesc* pResDesc) noexcept {
  CUDA_RESOURCE_DESC resource;
  if (!pSurfObject || !pResDesc) return cudaErrorInvalidValue;
  if (const cudaError_t code = write_resource(*pResDesc, &resource)) return code;
  return forward(table->cuSurfObjectCreate, pSurfObject, &resource);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* pResDesc,
                                             cudaSurfaceObject_t surfObject) noexcept {
  return resource_of<CUsurfObject>(table->cuSurfObjectGetResourceDesc, surfObject, pResDesc);
}

}  // namespace halfwarp::emulated_runtime::api
