// SPDX-License-Identifier: Apache-2.0
// Creates, describes and destroys CUDA arrays and mipmapped arrays.
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

std::uint64_t align_up(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

bool is_layered(const CUDA_ARRAY3D_DESCRIPTOR& shape) { return shape.Flags & CUDA_ARRAY3D_LAYERED; }
bool is_cube(const CUDA_ARRAY3D_DESCRIPTOR& shape) { return shape.Flags & CUDA_ARRAY3D_CUBEMAP; }

int dimensions_of(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  if (shape.Height == 0) return 1;
  return shape.Depth == 0 || is_layered(shape) || is_cube(shape) ? 2 : 3;
}

void require_format(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  const texture::texel_format format{shape.Format, shape.NumChannels};
  require(format.component_bytes() != 0, CUDA_ERROR_INVALID_VALUE,
          "the emulator's arrays hold integers of 8, 16 and 32 bits, and floats of 16 and 32");
  const bool is_count = shape.NumChannels == 1 || shape.NumChannels == 2 || shape.NumChannels == 4;
  require(is_count, CUDA_ERROR_INVALID_VALUE, "an element has 1, 2 or 4 channels");
}

void require_faces(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  if (!is_cube(shape)) return;
  const bool has_faces =
      is_layered(shape) ? shape.Depth > 0 && shape.Depth % 6 == 0 : shape.Depth == 6;
  require(shape.Width == shape.Height && has_faces, CUDA_ERROR_INVALID_VALUE,
          "a cubemap is square, and has six faces in each layer");
}

// The device attributes with the maximum extents of an array.
struct limits {
  CUdevice_attribute width, height, depth;
};

limits limits_of(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  constexpr auto none = static_cast<CUdevice_attribute>(0);
  const int dimensions = dimensions_of(shape);
  if (is_cube(shape)) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS};
  }
  if (is_layered(shape)) {
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

void require_extents(const device& target, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  require(shape.Width > 0, CUDA_ERROR_INVALID_VALUE, "an array is at least one element wide");
  require(!is_layered(shape) || shape.Depth > 0, CUDA_ERROR_INVALID_VALUE,
          "a layered array has at least one layer");
  require(shape.Height > 0 || shape.Depth == 0 || is_layered(shape), CUDA_ERROR_INVALID_VALUE,
          "an array with a depth has a height");
  const limits maximum = limits_of(shape);
  const auto fits = [&](std::size_t extent, CUdevice_attribute limit) {
    if (limit == 0) return true;
    return extent <= static_cast<std::size_t>(target.attributes()[limit]);
  };
  if (fits(shape.Width, maximum.width) && fits(shape.Height, maximum.height) &&
      fits(shape.Depth, maximum.depth))
    return;
  std::string text = "the array exceeds the limits of the device: at most";
  for (CUdevice_attribute limit : {maximum.width, maximum.height, maximum.depth}) {
    if (limit == 0) continue;
    text += (limit == maximum.width ? " " : " x ") + std::to_string(target.attributes()[limit]);
  }
  refuse(CUDA_ERROR_INVALID_VALUE, text + " elements");
}

void require_shape(const device& target, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  require((shape.Flags & ~known_flags) == 0, CUDA_ERROR_INVALID_VALUE,
          "the emulator supports neither sparse nor deferred-mapping arrays");
  require_format(shape);
  require_extents(target, shape);
  require_faces(shape);
}

// Returns the memory layout. Each level halves the extents, at least to 1, but not the layers.
texture::image image_layout(const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels, int device) {
  texture::image image;
  image.format = {shape.Format, shape.NumChannels};
  image.device = device;
  image.dimensions = dimensions_of(shape);
  image.is_layered = is_layered(shape);
  image.is_cube = is_cube(shape);
  const bool halves_depth = image.dimensions == 3;
  for (unsigned i = 0; i < levels; ++i) {
    const auto extent = [i](std::size_t first) {
      return static_cast<std::uint32_t>(std::max<std::size_t>(first >> i, 1));
    };
    texture::image_level level;
    level.offset = image.bytes;
    level.width = extent(shape.Width);
    level.height = extent(shape.Height);
    level.depth = halves_depth ? extent(shape.Depth)
                               : static_cast<std::uint32_t>(std::max<std::size_t>(shape.Depth, 1));
    level.row_pitch = align_up(std::uint64_t{level.width} * image.format.bytes(), row_alignment);
    level.slice_pitch = level.row_pitch * level.height;
    image.bytes = align_up(image.bytes + level.slice_pitch * level.depth, level_alignment);
    image.levels.push_back(level);
  }
  return image;
}

texture::image image_of_level(const texture::image& source, unsigned level) {
  texture::image result = source;
  result.levels = {source.levels[level]};
  return result;
}

CUDA_ARRAY3D_DESCRIPTOR shape_of_level(const CUDA_ARRAY3D_DESCRIPTOR& shape,
                                       const texture::image& image, unsigned level) {
  CUDA_ARRAY3D_DESCRIPTOR level_shape = shape;
  const auto& extents = image.levels[level];
  level_shape.Width = extents.width;
  if (shape.Height > 0) level_shape.Height = extents.height;
  if (shape.Depth > 0) level_shape.Depth = extents.depth;
  return level_shape;
}

unsigned max_levels(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  const std::size_t depth = dimensions_of(shape) == 3 ? shape.Depth : 0;
  return static_cast<unsigned>(std::bit_width(std::max({shape.Width, shape.Height, depth})));
}

// Waits for the work of the context before a destruction, as cuMemFree does.
void wait_for_context(call& c) {
  require_safe_in_captures(c.d);
  c.d.streams.wait_for_all(c.guard, *c.current());
}

CUDA_ARRAY3D_DESCRIPTOR as_3d_descriptor(const CUDA_ARRAY_DESCRIPTOR& descriptor) {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  shape.Width = descriptor.Width;
  shape.Height = descriptor.Height;
  shape.Format = descriptor.Format;
  shape.NumChannels = descriptor.NumChannels;
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
  request.device = owner.device().ordinal();
  request.context = owner.id();
  request.is_internal = true;  // the program destroys the object
  request.created_at = call_site();
  const auto address = c.d.memory.allocate(request);
  require(address.has_value(), CUDA_ERROR_OUT_OF_MEMORY, "the device is out of memory");
  *base = *address;
  return std::make_shared<array_memory>(c.d.memory, *c.d.memory.find_live(*address));
}

std::shared_ptr<cuda_array> make_array(call& c, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  auto& owner = *c.current();
  require_shape(owner.device(), shape);
  texture::image image = image_layout(shape, 1, owner.device().ordinal());
  auto memory = allocate_array_memory(c, image.bytes, &image.base);
  return c.d.objects.make<cuda_array>(owner.id(), shape, std::move(image), std::move(memory));
}

CUresult cuArray3DCreate(CUarray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pAllocateArray) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pHandle, pAllocateArray);
    *pHandle = make_array(c, *pAllocateArray)->handle_as<CUarray>();
  });
}

CUresult cuArrayCreate(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR* pAllocateArray) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pHandle, pAllocateArray);
    *pHandle = make_array(c, as_3d_descriptor(*pAllocateArray))->handle_as<CUarray>();
  });
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor,
                                CUarray hArray) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pArrayDescriptor);
    *pArrayDescriptor = c.find<cuda_array>(hArray)->shape;
  });
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* pArrayDescriptor, CUarray hArray) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pArrayDescriptor);
    const auto& shape = c.find<cuda_array>(hArray)->shape;
    *pArrayDescriptor = {shape.Width, shape.Height, shape.Format, shape.NumChannels};
  });
}

CUresult cuArrayGetPlane(CUarray* pPlaneArray, CUarray hArray, unsigned int) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pPlaneArray);
    c.find<cuda_array>(hArray);
    refuse(CUDA_ERROR_INVALID_VALUE, "the array has no planes");
  });
}

CUresult cuArrayDestroy(CUarray hArray) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.find_to_destroy<cuda_array>(hArray);
    require(!target->is_view, CUDA_ERROR_INVALID_VALUE,
            "a level of a mipmapped array, or an array of a graphics resource, cannot be destroyed "
            "by itself");
    wait_for_context(c);
    c.d.objects.remove(*target);
  });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* pHandle,
                                const CUDA_ARRAY3D_DESCRIPTOR* pMipmappedArrayDesc,
                                unsigned int numMipmapLevels) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pHandle, pMipmappedArrayDesc);
    const auto& shape = *pMipmappedArrayDesc;
    auto& owner = *c.current();
    require_shape(owner.device(), shape);
    require(numMipmapLevels > 0, CUDA_ERROR_INVALID_VALUE, "at least one level is required");
    // The extents limit the number of levels; more are not refused.
    const unsigned count = std::min(numMipmapLevels, max_levels(shape));
    texture::image image = image_layout(shape, count, owner.device().ordinal());
    auto memory = allocate_array_memory(c, image.bytes, &image.base);
    const auto created =
        c.d.objects.make<mipmapped_array>(owner.id(), shape, std::move(image), memory);
    for (unsigned i = 0; i < count; ++i) {
      const auto level =
          c.d.objects.make<cuda_array>(owner.id(), shape_of_level(shape, created->image, i),
                                       image_of_level(created->image, i), memory);
      level->is_view = level->is_library_owned = true;
      created->levels.push_back(level);
    }
    *pHandle = created->handle_as<CUmipmappedArray>();
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* pLevelArray, CUmipmappedArray hMipmappedArray,
                                  unsigned int level) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pLevelArray);
    const auto source = c.find<mipmapped_array>(hMipmappedArray);
    require(level < source->levels.size(), CUDA_ERROR_INVALID_VALUE, "there is no such level");
    *pLevelArray = source->levels[level]->handle_as<CUarray>();
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.find_to_destroy<mipmapped_array>(hMipmappedArray);
    wait_for_context(c);
    for (const auto& level : target->levels) c.d.objects.remove(*level);
    c.d.objects.remove(*target);
  });
}

}  // namespace halfwarp::emulator::api
