// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: what a resource is, and how it is read.
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

std::size_t limit(const device& on, CUdevice_attribute which) {
  return static_cast<std::size_t>(on.attributes()[which]);
}

texture::texel_format require_format(CUarray_format type, unsigned channels) {
  const texture::texel_format format{type, channels};
  const bool is_count = channels == 1 || channels == 2 || channels == 4;
  require(format.component_bytes() != 0 && is_count, CUDA_ERROR_INVALID_VALUE,
          "elements have 1, 2 or 4 channels, of integers of 8, 16, 32 bits or floats of 16, 32");
  return format;
}

void require_alignment(const device& on, CUdeviceptr at) {
  require(at != 0 && at % limit(on, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) == 0,
          CUDA_ERROR_INVALID_VALUE, "the memory of a texture begins at a multiple of 512 bytes");
}

image memory_image(const device& on, image_kind kind, CUdeviceptr base,
                   texture::texel_format format, std::size_t width, std::size_t height,
                   std::size_t pitch) {
  image made;
  made.kind = kind;
  made.format = format;
  made.device = on.ordinal();
  made.dimensions = kind == image_kind::linear ? 1 : 2;
  made.base = base;
  made.bytes = pitch * (height - 1) + width * format.bytes();
  texture::image_level level;
  level.width = static_cast<std::uint32_t>(width);
  level.height = static_cast<std::uint32_t>(height);
  level.row_pitch = pitch;
  level.slice_pitch = pitch * height;
  made.levels.push_back(level);
  return made;
}

image linear_image(const device& on, const CUDA_RESOURCE_DESC& of) {
  const auto& linear = of.res.linear;
  const auto format = require_format(linear.format, linear.numChannels);
  require_alignment(on, linear.devPtr);
  const std::size_t width = linear.sizeInBytes / format.bytes();
  require(width > 0 && width <= limit(on, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH),
          CUDA_ERROR_INVALID_VALUE, "the texture has no element, or more than the device can have");
  return memory_image(on, image_kind::linear, linear.devPtr, format, width, 1,
                      width * format.bytes());
}

image pitched_image(const device& on, const CUDA_RESOURCE_DESC& of) {
  const auto& plane = of.res.pitch2D;
  const auto format = require_format(plane.format, plane.numChannels);
  require_alignment(on, plane.devPtr);
  const bool fits =
      plane.width > 0 && plane.height > 0 &&
      plane.width <= limit(on, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) &&
      plane.height <= limit(on, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) &&
      plane.pitchInBytes <= limit(on, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH);
  require(fits, CUDA_ERROR_INVALID_VALUE,
          "the texture is empty, or larger than the device can have");
  require(plane.pitchInBytes >= plane.width * format.bytes() &&
              plane.pitchInBytes % limit(on, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) == 0,
          CUDA_ERROR_INVALID_VALUE, "the pitch is a multiple of 32 bytes, and not less than a row");
  return memory_image(on, image_kind::pitched, plane.devPtr, format, plane.width, plane.height,
                      plane.pitchInBytes);
}

image image_of(const call& c, const CUDA_RESOURCE_DESC& of) {
  require(of.flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags of a resource must be 0");
  const device& on = c.current()->on();
  switch (of.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      return c.find<cuda_array>(of.res.array.hArray)->image;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return c.find<mipmapped_array>(of.res.mipmap.hMipmappedArray)->image;
    case CU_RESOURCE_TYPE_LINEAR:
      return linear_image(on, of);
    case CU_RESOURCE_TYPE_PITCH2D:
      return pitched_image(on, of);
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such type of resource");
  }
}

void require_texture(const CUDA_TEXTURE_DESC& how, const image& of) {
  const bool is_mode = std::all_of(std::begin(how.addressMode), std::end(how.addressMode),
                                   [](CUaddress_mode each) { return each <= 3; });
  require(is_mode && how.filterMode <= CU_TR_FILTER_MODE_LINEAR &&
              how.mipmapFilterMode <= CU_TR_FILTER_MODE_LINEAR,
          CUDA_ERROR_INVALID_VALUE, "cuda.h has no such address mode, or no such filter");
  require((how.flags & ~known_texture_flags) == 0, CUDA_ERROR_INVALID_VALUE,
          "these are no flags of a texture");
  require(!(how.flags & CU_TRSF_SEAMLESS_CUBEMAP) || of.is_cube, CUDA_ERROR_INVALID_VALUE,
          "seamless filtering is of arrays that were made with CUDA_ARRAY3D_CUBEMAP");
}

template <class Object>
std::shared_ptr<Object> find_object(const call& c, std::uint64_t number) {
  return c.find<Object>(reinterpret_cast<void*>(number), CUDA_ERROR_INVALID_VALUE);
}

template <class Object>
CUresult destroy(std::uint64_t number) {
  return answer([&](call& c) {
    const auto gone = find_object<Object>(c, number);
    c.d.textures.remove(number);
    c.d.objects.remove(*gone);
  });
}

template <class Object>
std::uint64_t make_object(call& c, const CUDA_RESOURCE_DESC& of, texture::binding what) {
  const auto made = c.d.objects.make<Object>(c.current()->id(), of, what.descriptor);
  c.d.textures.insert(made->number(), std::make_shared<const texture::binding>(std::move(what)));
  return made->number();
}

}  // namespace

CUresult cuTexObjectCreate(CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                           const CUDA_TEXTURE_DESC* pTexDesc,
                           const CUDA_RESOURCE_VIEW_DESC* pResViewDesc) noexcept {
  return answer([&](call& c) {
    require_outputs(pTexObject, pResDesc, pTexDesc);
    require(!pResViewDesc, CUDA_ERROR_NOT_SUPPORTED, "the emulator has no views of resources");
    texture::binding what{false, image_of(c, *pResDesc), *pTexDesc};
    require_texture(*pTexDesc, what.image);
    *pTexObject = make_object<texture_object>(c, *pResDesc, std::move(what));
  });
}

CUresult cuTexObjectDestroy(CUtexObject texObject) noexcept {
  return destroy<texture_object>(texObject);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject) noexcept {
  return answer([&](call& c) {
    require_outputs(pResDesc);
    *pResDesc = find_object<texture_object>(c, texObject)->resource;
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* pTexDesc, CUtexObject texObject) noexcept {
  return answer([&](call& c) {
    require_outputs(pTexDesc);
    *pTexDesc = find_object<texture_object>(c, texObject)->texture_desc;
    std::ranges::fill(pTexDesc->borderColor, 0.0f);  // drivers of CUDA 13 never tell it
  });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* pResViewDesc,
                                        CUtexObject texObject) noexcept {
  return answer([&](call& c) {
    require_outputs(pResViewDesc);
    find_object<texture_object>(c, texObject);
    refuse(CUDA_ERROR_INVALID_VALUE, "the texture was made without a view of the resource");
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* pSurfObject,
                            const CUDA_RESOURCE_DESC* pResDesc) noexcept {
  return answer([&](call& c) {
    require_outputs(pSurfObject, pResDesc);
    require(pResDesc->resType == CU_RESOURCE_TYPE_ARRAY, CUDA_ERROR_INVALID_VALUE,
            "a surface is of an array");
    texture::binding what{true, image_of(c, *pResDesc), {}};
    // Drivers of CUDA 13 do not ask for CUDA_ARRAY3D_SURFACE_LDST.
    *pSurfObject = make_object<surface_object>(c, *pResDesc, std::move(what));
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject) noexcept {
  return destroy<surface_object>(surfObject);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc,
                                     CUsurfObject surfObject) noexcept {
  return answer([&](call& c) {
    require_outputs(pResDesc);
    *pResDesc = find_object<surface_object>(c, surfObject)->resource;
  });
}

}  // namespace halfwarp::emulator::api
