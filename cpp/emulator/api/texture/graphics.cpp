// SPDX-License-Identifier: Apache-2.0
// Graphics interoperability. Without a graphics library the calls fail as without a graphics
// context, except for objects that were declared through control/control.h.
#include <span>

#include "emulator/api/texture/array_call.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr unsigned known_flags =
    CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY | CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD |
    CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST | CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER;

const graphics_object& find_graphics(const call& c, unsigned name) {
  require(!c.d.graphics.empty(), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
          "no graphics context is current in this thread");
  const auto match = c.d.graphics.find(name);
  require(match != c.d.graphics.end(), CUDA_ERROR_INVALID_VALUE,
          "the graphics library has no object of that name");
  return match->second;
}

void require_flags(unsigned flags) {
  require((flags & ~known_flags) == 0, CUDA_ERROR_INVALID_VALUE,
          "cuda.h has no such registration flags");
}

std::shared_ptr<graphics_resource> find_mapped(const call& c, CUgraphicsResource raw) {
  const auto match = c.find<graphics_resource>(raw);
  require(match->is_mapped, CUDA_ERROR_NOT_MAPPED, "the resource is not mapped");
  return match;
}

// Maps or unmaps all resources or none. Needs no operation in the stream, since no graphics library
// accesses the memory.
CUresult set_mapped(std::span<const CUgraphicsResource> resources, CUstream stream_handle,
                    bool is_mapped) {
  return run_locked([&](call& c) {
    const auto stream = c.stream_of(stream_handle);
    require(!capture_of(*stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            "graphics resources are not mapped or unmapped in a capture");
    require(!resources.empty(), CUDA_ERROR_INVALID_VALUE, "the list of resources is empty");
    std::vector<std::shared_ptr<graphics_resource>> matches;
    for (const auto raw : resources) {
      matches.push_back(c.find<graphics_resource>(raw));
      require(matches.back()->is_mapped != is_mapped,
              is_mapped ? CUDA_ERROR_ALREADY_MAPPED : CUDA_ERROR_NOT_MAPPED,
              is_mapped ? "the resource is already mapped" : "the resource is not mapped");
    }
    for (const auto& each : matches) each->is_mapped = is_mapped;
  });
}

std::span<const CUgraphicsResource> list_of(const CUgraphicsResource* first, unsigned count) {
  return first ? std::span{first, count} : std::span<const CUgraphicsResource>{};
}

}  // namespace

CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource* pCudaResource, GLuint buffer,
                                    unsigned int Flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pCudaResource);
    const auto& owner = *c.current();
    require_flags(Flags);
    const auto& description = find_graphics(c, buffer);
    require(description.bytes > 0, CUDA_ERROR_INVALID_VALUE, "the object is not a buffer");
    const auto created = c.d.objects.make<graphics_resource>(owner.id(), description);
    created->memory = allocate_array_memory(c, description.bytes, &created->base);
    *pCudaResource = created->handle_as<CUgraphicsResource>();
  });
}

CUresult cuGraphicsGLRegisterImage(CUgraphicsResource* pCudaResource, GLuint image, GLenum,
                                   unsigned int Flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pCudaResource);
    const auto& owner = *c.current();
    require_flags(Flags);
    const auto& description = find_graphics(c, image);
    require(description.picture.Width > 0, CUDA_ERROR_INVALID_VALUE, "the object is not an image");
    auto shape = description.picture;
    if (Flags & CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST) shape.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
    const auto picture = make_array(c, shape);
    picture->is_view = picture->is_library_owned = true;
    const auto created = c.d.objects.make<graphics_resource>(owner.id(), description);
    created->picture = picture;
    *pCudaResource = created->handle_as<CUgraphicsResource>();
  });
}

CUresult cuGraphicsUnregisterResource(CUgraphicsResource resource) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.find_to_destroy<graphics_resource>(resource);
    require_safe_in_captures(c.d);
    c.d.streams.wait_for_all(c.guard, *c.current());
    if (target->picture) c.d.objects.remove(*target->picture);
    c.d.objects.remove(*target);
  });
}

CUresult cuGraphicsMapResources(unsigned int count, CUgraphicsResource* resources,
                                CUstream hStream) noexcept {
  return set_mapped(list_of(resources, count), hStream, true);
}

CUresult cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource* resources,
                                  CUstream hStream) noexcept {
  return set_mapped(list_of(resources, count), hStream, false);
}

CUresult cuGraphicsResourceGetMappedPointer(CUdeviceptr* pDevPtr, size_t* pSize,
                                            CUgraphicsResource resource) noexcept {
  return run_locked([&](call& c) {
    const auto target = find_mapped(c, resource);
    require(target->memory != nullptr, CUDA_ERROR_NOT_MAPPED_AS_POINTER,
            "an image is mapped as an array, not as a pointer");
    if (pDevPtr) *pDevPtr = target->base;
    if (pSize) *pSize = target->description.bytes;
  });
}

CUresult cuGraphicsSubResourceGetMappedArray(CUarray* pArray, CUgraphicsResource resource,
                                             unsigned int arrayIndex,
                                             unsigned int mipLevel) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pArray);
    const auto target = find_mapped(c, resource);
    require(target->picture != nullptr, CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
            "a buffer is mapped as a pointer, not as an array");
    require(arrayIndex == 0 && mipLevel == 0, CUDA_ERROR_INVALID_VALUE,
            "the image has one layer and one level");
    *pArray = target->picture->handle_as<CUarray>();
  });
}

CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray* pMipmappedArray,
                                                   CUgraphicsResource resource) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pMipmappedArray);
    find_mapped(c, resource);
    refuse(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "the image has one level");
  });
}

CUresult cuGraphicsResourceSetMapFlags(CUgraphicsResource resource, unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.find<graphics_resource>(resource);
    require(flags <= CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD, CUDA_ERROR_INVALID_VALUE,
            "cuda.h has no such map flags");
    require(!target->is_mapped, CUDA_ERROR_ALREADY_MAPPED, "the resource is mapped");
    target->map_flags = flags;
  });
}

}  // namespace halfwarp::emulator::api
