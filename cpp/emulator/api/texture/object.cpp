// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: their images and sampling parameters.
#include <algorithm>
#include <iterator>

#include "emulator/api/texture/array_call.hpp"

namespace halfwarp::emulator::api {
namespace {

using texture::image;
using texture::image_kind;

constexpr unsigned known_texture_flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                                         CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                                         CU_TRSF_SEAMLESS_CUBEMAP;

std::size_t limit(const device& target, CUdevice_attribute attribute) {
  return static_cast<std::size_t>(target.attributes()[attribute]);
}

texture::texel_format require_format(CUarray_format type, unsigned channels) {
  const texture::texel_format format{type, channels};
  const bool is_count = channels == 1 || channels == 2 || channels == 4;
  require(format.component_bytes() != 0 && is_count, CUDA_ERROR_INVALID_VALUE,
          "elements have 1, 2 or 4 channels, of integers of 8, 16, 32 bits or floats of 16, 32");
  return format;
}

void require_alignment(const device& target, CUdeviceptr address) {
  require(address != 0 && address % limit(target, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) == 0,
          CUDA_ERROR_INVALID_VALUE, "texture memory must be aligned to 512 bytes");
}

image memory_image(const device& target, image_kind kind, CUdeviceptr base,
                   texture::texel_format format, std::size_t width, std::size_t height,
                   std::size_t pitch) {
  image result;
  result.kind = kind;
  result.format = format;
  result.device = target.ordinal();
  result.dimensions = kind == image_kind::linear ? 1 : 2;
  result.base = base;
  result.bytes = pitch * (height - 1) + width * format.bytes();
  texture::image_level level;
  level.width = static_cast<std::uint32_t>(width);
  level.height = static_cast<std::uint32_t>(height);
  level.row_pitch = pitch;
  level.slice_pitch = pitch * height;
  result.levels.push_back(level);
  return result;
}

image linear_image(const device& target, const CUDA_RESOURCE_DESC& resource) {
  const auto& linear = resource.res.linear;
  const auto format = require_format(linear.format, linear.numChannels);
  require_alignment(target, linear.devPtr);
  const std::size_t width = linear.sizeInBytes / format.bytes();
  require(width > 0 && width <= limit(target, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH),
          CUDA_ERROR_INVALID_VALUE, "the texture is empty, or exceeds the limits of the device");
  return memory_image(target, image_kind::linear, linear.devPtr, format, width, 1,
                      width * format.bytes());
}

image pitched_image(const device& target, const CUDA_RESOURCE_DESC& resource) {
  const auto& plane = resource.res.pitch2D;
  const auto format = require_format(plane.format, plane.numChannels);
  require_alignment(target, plane.devPtr);
  const bool fits =
      plane.width > 0 && plane.height > 0 &&
      plane.width <= limit(target, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) &&
      plane.height <= limit(target, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) &&
      plane.pitchInBytes <= limit(target, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH);
  require(fits, CUDA_ERROR_INVALID_VALUE,
          "the texture is empty, or exceeds the limits of the device");
  require(plane.pitchInBytes >= plane.width * format.bytes() &&
              plane.pitchInBytes % limit(target, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) == 0,
          CUDA_ERROR_INVALID_VALUE,
          "the pitch must be a multiple of 32 bytes and at least one row");
  return memory_image(target, image_kind::pitched, plane.devPtr, format, plane.width, plane.height,
                      plane.pitchInBytes);
}

image image_of(const call& c, const CUDA_RESOURCE_DESC& resource) {
  require(resource.flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags of a resource must be 0");
  const device& target = c.current()->device();
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      return c.find<cuda_array>(resource.res.array.hArray)->image;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return c.find<mipmapped_array>(resource.res.mipmap.hMipmappedArray)->image;
    case CU_RESOURCE_TYPE_LINEAR:
      return linear_image(target, resource);
    case CU_RESOURCE_TYPE_PITCH2D:
      return pitched_image(target, resource);
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such type of resource");
  }
}

void require_texture(const CUDA_TEXTURE_DESC& params, const image& source) {
  const bool is_mode = std::all_of(std::begin(params.addressMode), std::end(params.addressMode),
                                   [](CUaddress_mode each) { return each <= 3; });
  require(is_mode && params.filterMode <= CU_TR_FILTER_MODE_LINEAR &&
              params.mipmapFilterMode <= CU_TR_FILTER_MODE_LINEAR,
          CUDA_ERROR_INVALID_VALUE, "cuda.h has no such address mode, or no such filter");
  require((params.flags & ~known_texture_flags) == 0, CUDA_ERROR_INVALID_VALUE,
          "the flags are invalid for a texture");
  require(!(params.flags & CU_TRSF_SEAMLESS_CUBEMAP) || source.is_cube, CUDA_ERROR_INVALID_VALUE,
          "seamless filtering needs an array created with CUDA_ARRAY3D_CUBEMAP");
}

template <class Object>
std::shared_ptr<Object> find_object(const call& c, std::uint64_t number) {
  return c.find<Object>(reinterpret_cast<void*>(number), CUDA_ERROR_INVALID_VALUE);
}

template <class Object>
CUresult destroy(std::uint64_t number) {
  return run_locked([&](call& c) {
    const auto target = find_object<Object>(c, number);
    c.d.textures.remove(number);
    c.d.objects.remove(*target);
  });
}

template <class Object>
std::uint64_t make_object(call& c, const CUDA_RESOURCE_DESC& resource, texture::binding binding) {
  const auto created = c.d.objects.make<Object>(c.current()->id(), resource, binding.descriptor);
  c.d.textures.insert(created->number(),
                      std::make_shared<const texture::binding>(std::move(binding)));
  return created->number();
}

}  // namespace

CUresult cuTexObjectCreate(CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                           const CUDA_TEXTURE_DESC* pTexDesc,
                           const CUDA_RESOURCE_VIEW_DESC* pResViewDesc) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pTexObject, pResDesc, pTexDesc);
    require(!pResViewDesc, CUDA_ERROR_NOT_SUPPORTED,
            "the emulator does not support resource views");
    texture::binding binding{false, image_of(c, *pResDesc), *pTexDesc};
    require_texture(*pTexDesc, binding.image);
    *pTexObject = make_object<texture_object>(c, *pResDesc, std::move(binding));
  });
}

CUresult cuTexObjectDestroy(CUtexObject texObject) noexcept {
  return destroy<texture_object>(texObject);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pResDesc);
    *pResDesc = find_object<texture_object>(c, texObject)->resource;
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* pTexDesc, CUtexObject texObject) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pTexDesc);
    *pTexDesc = find_object<texture_object>(c, texObject)->texture_desc;
    std::ranges::fill(pTexDesc->borderColor, 0.0f);  // CUDA 13 drivers do not return it
  });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* pResViewDesc,
                                        CUtexObject texObject) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pResViewDesc);
    find_object<texture_object>(c, texObject);
    refuse(CUDA_ERROR_INVALID_VALUE, "the texture was created without a resource view");
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* pSurfObject,
                            const CUDA_RESOURCE_DESC* pResDesc) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pSurfObject, pResDesc);
    require(pResDesc->resType == CU_RESOURCE_TYPE_ARRAY, CUDA_ERROR_INVALID_VALUE,
            "a surface needs an array");
    texture::binding binding{true, image_of(c, *pResDesc), {}};
    // CUDA 13 drivers do not require CUDA_ARRAY3D_SURFACE_LDST.
    *pSurfObject = make_object<surface_object>(c, *pResDesc, std::move(binding));
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject) noexcept {
  return destroy<surface_object>(surfObject);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc,
                                     CUsurfObject surfObject) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pResDesc);
    *pResDesc = find_object<surface_object>(c, surfObject)->resource;
  });
}

}  // namespace halfwarp::emulator::api
