// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects.
#include <algorithm>

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/texture/format.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

cudaError_t write_resource(const cudaResourceDesc& from, CUDA_RESOURCE_DESC* to) {
  element_format format{};
  *to = {};
  to->resType = static_cast<CUresourcetype>(from.resType);
  to->flags = from.flags;
  switch (from.resType) {
    case cudaResourceTypeArray:
      to->res.array.hArray = as_driver<CUarray>(from.res.array.array);
      return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
      to->res.mipmap.hMipmappedArray = as_driver<CUmipmappedArray>(from.res.mipmap.mipmap);
      return cudaSuccess;
    case cudaResourceTypeLinear: {
      const auto& linear = from.res.linear;
      if (const cudaError_t code = to_format(linear.desc, &format)) return code;
      to->res.linear = {as_driver<CUdeviceptr>(linear.devPtr), format.format, format.channels,
                        linear.sizeInBytes};
      return cudaSuccess;
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = from.res.pitch2D;
      if (const cudaError_t code = to_format(rows.desc, &format)) return code;
      to->res.pitch2D = {as_driver<CUdeviceptr>(rows.devPtr),
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

cudaError_t read_resource(const CUDA_RESOURCE_DESC& from, cudaResourceDesc* to) {
  *to = {};
  to->resType = static_cast<cudaResourceType>(from.resType);
  to->flags = from.flags;
  switch (to->resType) {
    case cudaResourceTypeArray:
      to->res.array.array = reinterpret_cast<cudaArray_t>(from.res.array.hArray);
      return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
      to->res.mipmap.mipmap =
          reinterpret_cast<cudaMipmappedArray_t>(from.res.mipmap.hMipmappedArray);
      return cudaSuccess;
    case cudaResourceTypeLinear: {
      const auto& linear = from.res.linear;
      to->res.linear.devPtr = reinterpret_cast<void*>(linear.devPtr);
      to->res.linear.sizeInBytes = linear.sizeInBytes;
      return to_descriptor({linear.format, linear.numChannels}, &to->res.linear.desc);
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = from.res.pitch2D;
      to->res.pitch2D.devPtr = reinterpret_cast<void*>(rows.devPtr);
      to->res.pitch2D.width = rows.width;
      to->res.pitch2D.height = rows.height;
      to->res.pitch2D.pitchInBytes = rows.pitchInBytes;
      return to_descriptor({rows.format, rows.numChannels}, &to->res.pitch2D.desc);
    }
  }
  return cudaErrorUnknown;
}

unsigned flag(unsigned which, bool is_set) { return is_set ? which : 0; }

CUDA_TEXTURE_DESC write_texture(const cudaTextureDesc& from) {
  CUDA_TEXTURE_DESC to{};
  std::ranges::transform(from.addressMode, to.addressMode,
                         [](auto mode) { return as_driver<CUaddress_mode>(mode); });
  to.filterMode = as_driver<CUfilter_mode>(from.filterMode);
  to.flags = flag(CU_TRSF_READ_AS_INTEGER, from.readMode == cudaReadModeElementType) |
             flag(CU_TRSF_NORMALIZED_COORDINATES, from.normalizedCoords) |
             flag(CU_TRSF_SRGB, from.sRGB) |
             flag(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION, from.disableTrilinearOptimization) |
             flag(CU_TRSF_SEAMLESS_CUBEMAP, from.seamlessCubemap);
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = as_driver<CUfilter_mode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  std::ranges::copy(from.borderColor, to.borderColor);
  return to;
}

cudaTextureDesc read_texture(const CUDA_TEXTURE_DESC& from) {
  cudaTextureDesc to{};
  std::ranges::transform(from.addressMode, to.addressMode,
                         [](auto mode) { return static_cast<cudaTextureAddressMode>(mode); });
  to.filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
  to.readMode =
      from.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  to.normalizedCoords = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  to.sRGB = (from.flags & CU_TRSF_SRGB) != 0;
  to.disableTrilinearOptimization = (from.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  to.seamlessCubemap = (from.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<cudaTextureFilterMode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  std::ranges::copy(from.borderColor, to.borderColor);
  return to;
}

template <class Object>
cudaError_t resource_of(CUresult (*ask)(CUDA_RESOURCE_DESC*, Object), Object object,
                        cudaResourceDesc* out) {
  CUDA_RESOURCE_DESC told{};
  if (!out) return cudaErrorInvalidValue;
  if (const cudaError_t code = forward(ask, &told, object)) return code;
  return read_resource(told, out);
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
  CUDA_TEXTURE_DESC told{};
  if (!pTexDesc) return cudaErrorInvalidValue;
  if (const cudaError_t code = forward(table->cuTexObjectGetTextureDesc, &told, texObject)) {
    return code;
  }
  *pTexDesc = read_texture(told);
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
