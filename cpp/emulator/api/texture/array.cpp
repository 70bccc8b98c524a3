// SPDX-License-Identifier: Apache-2.0
// CUDA arrays and mipmapped arrays: made, described, destroyed.
#include <algorithm>
#include <bit>
#include <string>

#include "emulator/api/texture/array_call.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr unsigned known_flags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |
                                 CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER |
                                 CUDA_ARRAY3D_COLOR_ATTACHMENT | CUDA_ARRAY3D_DEPTH_TEXTURE;
constexpr std::uint64_t row_alignment = 32, level_alignment = 512;

std::uint64_t aligned(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

bool is_layered(const CUDA_ARRAY3D_DESCRIPTOR& of) { return of.Flags & CUDA_ARRAY3D_LAYERED; }
bool is_cube(const CUDA_ARRAY3D_DESCRIPTOR& of) { return of.Flags & CUDA_ARRAY3D_CUBEMAP; }

int dimensions_of(const CUDA_ARRAY3D_DESCRIPTOR& of) {
  if (of.Height == 0) return 1;
  return of.Depth == 0 || is_layered(of) || is_cube(of) ? 2 : 3;
}

void require_format(const CUDA_ARRAY3D_DESCRIPTOR& of) {
  const texture::texel_format format{of.Format, of.NumChannels};
  require(format.component_bytes() != 0, CUDA_ERROR_INVALID_VALUE,
          "the emulator's arrays hold integers of 8, 16 and 32 bits, and floats of 16 and 32");
  const bool is_count = of.NumChannels == 1 || of.NumChannels == 2 || of.NumChannels == 4;
  require(is_count, CUDA_ERROR_INVALID_VALUE, "an element has 1, 2 or 4 channels");
}

void require_faces(const CUDA_ARRAY3D_DESCRIPTOR& of) {
  if (!is_cube(of)) return;
  const bool has_faces = is_layered(of) ? of.Depth > 0 && of.Depth % 6 == 0 : of.Depth == 6;
  require(of.Width == of.Height && has_faces, CUDA_ERROR_INVALID_VALUE,
          "a cubemap is square, and has six faces in each layer");
}

// The largest extents, by what they are of.
struct limits {
  CUdevice_attribute width, height, depth;
};

limits limits_of(const CUDA_ARRAY3D_DESCRIPTOR& of) {
  constexpr auto none = static_cast<CUdevice_attribute>(0);
  const int dimensions = dimensions_of(of);
  if (is_cube(of)) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS};
  }
  if (is_layered(of)) {
    if (dimensions == 1) {
      return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, none,
              CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS};
    }
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS};
  }
  if (dimensions == 1) return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, none, none};
  if (dimensions == 2) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, none};
  }
  return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
          CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH};
}

void require_extents(const device& on, const CUDA_ARRAY3D_DESCRIPTOR& of) {
  require(of.Width > 0, CUDA_ERROR_INVALID_VALUE, "an array is at least one element wide");
  require(!is_layered(of) || of.Depth > 0, CUDA_ERROR_INVALID_VALUE,
          "a layered array has at least one layer");
  require(of.Height > 0 || of.Depth == 0 || is_layered(of), CUDA_ERROR_INVALID_VALUE,
          "an array with a depth has a height");
  const limits most = limits_of(of);
  const auto fits = [&](std::size_t extent, CUdevice_attribute limit) {
    if (limit == 0) return true;
    return extent <= static_cast<std::size_t>(on.attributes()[limit]);
  };
  require(fits(of.Width, most.width) && fits(of.Height, most.height) && fits(of.Depth, most.depth),
          CUDA_ERROR_INVALID_VALUE, "the array is larger than the device can have");
}

void require_shape(const device& on, const CUDA_ARRAY3D_DESCRIPTOR& of) {
  require((of.Flags & ~known_flags) == 0, CUDA_ERROR_INVALID_VALUE,
          "the emulator has no sparse arrays, and none without memory");
  require_format(of);
  require_extents(on, of);
  require_faces(of);
}

// Layers keep their number, other extents become half as large, at least 1.
texture::image lay_out(const CUDA_ARRAY3D_DESCRIPTOR& of, unsigned levels, int device) {
  texture::image image;
  image.format = {of.Format, of.NumChannels};
  image.device = device;
  image.dimensions = dimensions_of(of);
  image.is_layered = is_layered(of);
  image.is_cube = is_cube(of);
  const bool halves_depth = image.dimensions == 3;
  for (unsigned i = 0; i < levels; ++i) {
    const auto extent = [i](std::size_t first) {
      return static_cast<std::uint32_t>(std::max<std::size_t>(first >> i, 1));
    };
    texture::image_level level;
    level.offset = image.bytes;
    level.width = extent(of.Width);
    level.height = extent(of.Height);
    level.depth = halves_depth ? extent(of.Depth)
                               : static_cast<std::uint32_t>(std::max<std::size_t>(of.Depth, 1));
    level.row_pitch = aligned(std::uint64_t{level.width} * image.format.bytes(), row_alignment);
    level.slice_pitch = level.row_pitch * level.height;
    image.bytes = aligned(image.bytes + level.slice_pitch * level.depth, level_alignment);
    image.levels.push_back(level);
  }
  return image;
}

texture::image only_level(const texture::image& of, unsigned level) {
  texture::image one = of;
  one.levels = {of.levels[level]};
  return one;
}

CUDA_ARRAY3D_DESCRIPTOR shape_of_level(const CUDA_ARRAY3D_DESCRIPTOR& of,
                                       const texture::image& image, unsigned level) {
  CUDA_ARRAY3D_DESCRIPTOR shape = of;
  const auto& extents = image.levels[level];
  shape.Width = extents.width;
  if (of.Height > 0) shape.Height = extents.height;
  if (of.Depth > 0) shape.Depth = extents.depth;
  return shape;
}

unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR& of) {
  const std::size_t depth = dimensions_of(of) == 3 ? of.Depth : 0;
  return static_cast<unsigned>(std::bit_width(std::max({of.Width, of.Height, depth})));
}

// As cuMemFree: after the work of the context.
void finish_work(call& c) {
  require_safe_in_captures(c.d);
  c.d.streams.wait_for_all(c.guard, *c.current());
}

CUDA_ARRAY3D_DESCRIPTOR with_depth(const CUDA_ARRAY_DESCRIPTOR& of) {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  shape.Width = of.Width;
  shape.Height = of.Height;
  shape.Format = of.Format;
  shape.NumChannels = of.NumChannels;
  return shape;
}

}  // namespace

std::shared_ptr<array_memory> allocate_array_memory(call& c, std::uint64_t bytes,
                                                    memory::address* base) {
  require_safe_in_captures(c.d);
  auto& owner = *c.current();
  memory::allocation_request request;
  request.size = bytes;
  request.kind = memory::allocation_kind::device;
  request.device = owner.on().ordinal();
  request.context = owner.id();
  request.is_internal = true;  // the object is what a program has to give back
  request.created_at = call_site();
  const auto made = c.d.memory.allocate(request);
  require(made.has_value(), CUDA_ERROR_OUT_OF_MEMORY, "the device has not that much memory left");
  *base = *made;
  return std::make_shared<array_memory>(c.d.memory, *c.d.memory.find_live(*made));
}

std::shared_ptr<cuda_array> make_array(call& c, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  auto& owner = *c.current();
  require_shape(owner.on(), shape);
  texture::image image = lay_out(shape, 1, owner.on().ordinal());
  auto memory = allocate_array_memory(c, image.bytes, &image.base);
  return c.d.objects.make<cuda_array>(owner.id(), shape, std::move(image), std::move(memory));
}

CUresult cuArray3DCreate(CUarray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pAllocateArray) noexcept {
  return answer([&](call& c) {
    require_outputs(pHandle, pAllocateArray);
    *pHandle = make_array(c, *pAllocateArray)->handle_as<CUarray>();
  });
}

CUresult cuArrayCreate(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR* pAllocateArray) noexcept {
  return answer([&](call& c) {
    require_outputs(pHandle, pAllocateArray);
    *pHandle = make_array(c, with_depth(*pAllocateArray))->handle_as<CUarray>();
  });
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor,
                                CUarray hArray) noexcept {
  return answer([&](call& c) {
    require_outputs(pArrayDescriptor);
    *pArrayDescriptor = c.find<cuda_array>(hArray)->shape;
  });
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* pArrayDescriptor, CUarray hArray) noexcept {
  return answer([&](call& c) {
    require_outputs(pArrayDescriptor);
    const auto& shape = c.find<cuda_array>(hArray)->shape;
    *pArrayDescriptor = {shape.Width, shape.Height, shape.Format, shape.NumChannels};
  });
}

CUresult cuArrayGetPlane(CUarray* pPlaneArray, CUarray hArray, unsigned int) noexcept {
  return answer([&](call& c) {
    require_outputs(pPlaneArray);
    c.find<cuda_array>(hArray);
    refuse(CUDA_ERROR_INVALID_VALUE, "the array has no planes");
  });
}

CUresult cuArrayDestroy(CUarray hArray) noexcept {
  return answer([&](call& c) {
    const auto gone = c.find_to_destroy<cuda_array>(hArray);
    require(!gone->is_view, CUDA_ERROR_INVALID_VALUE,
            "a level of a mipmapped array, or a mapped one, goes with what it is of");
    finish_work(c);
    c.d.objects.remove(*gone);
  });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* pHandle,
                                const CUDA_ARRAY3D_DESCRIPTOR* pMipmappedArrayDesc,
                                unsigned int numMipmapLevels) noexcept {
  return answer([&](call& c) {
    require_outputs(pHandle, pMipmappedArrayDesc);
    const auto& shape = *pMipmappedArrayDesc;
    auto& owner = *c.current();
    require_shape(owner.on(), shape);
    require(numMipmapLevels > 0, CUDA_ERROR_INVALID_VALUE, "there is at least one level");
    // There are as many as the extents can be halved, whatever is asked for.
    const unsigned count = std::min(numMipmapLevels, most_levels(shape));
    texture::image image = lay_out(shape, count, owner.on().ordinal());
    auto memory = allocate_array_memory(c, image.bytes, &image.base);
    const auto made =
        c.d.objects.make<mipmapped_array>(owner.id(), shape, std::move(image), memory);
    for (unsigned i = 0; i < count; ++i) {
      const auto level = c.d.objects.make<cuda_array>(
          owner.id(), shape_of_level(shape, made->image, i), only_level(made->image, i), memory);
      level->is_view = level->is_library_owned = true;
      made->levels.push_back(level);
    }
    *pHandle = made->handle_as<CUmipmappedArray>();
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* pLevelArray, CUmipmappedArray hMipmappedArray,
                                  unsigned int level) noexcept {
  return answer([&](call& c) {
    require_outputs(pLevelArray);
    const auto of = c.find<mipmapped_array>(hMipmappedArray);
    require(level < of->levels.size(), CUDA_ERROR_INVALID_VALUE, "there is no such level");
    *pLevelArray = of->levels[level]->handle_as<CUarray>();
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) noexcept {
  return answer([&](call& c) {
    const auto gone = c.find_to_destroy<mipmapped_array>(hMipmappedArray);
    finish_work(c);
    for (const auto& level : gone->levels) c.d.objects.remove(*level);
    c.d.objects.remove(*gone);
  });
}

}  // namespace halfwarp::emulator::api
