// SPDX-License-Identifier: Apache-2.0
// Buffers and images of a graphics library. There is none: the calls answer as without a context of
// one, but for what the program was told to take for a buffer or an image (control/control.h).
#include <span>

#include "emulator/api/texture/array_call.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr unsigned known_flags =
    CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY | CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD |
    CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST | CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER;

const graphics_object& find_graphics(const call& c, unsigned name) {
  require(!c.d.graphics.empty(), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
          "no context of a graphics library is current in this thread");
  const auto found = c.d.graphics.find(name);
  require(found != c.d.graphics.end(), CUDA_ERROR_INVALID_VALUE,
          "the graphics library has no object of that name");
  return found->second;
}

void require_flags(unsigned flags) {
  require((flags & ~known_flags) == 0, CUDA_ERROR_INVALID_VALUE,
          "cuda.h has no such flags to register with");
}

std::shared_ptr<graphics_resource> find_mapped(const call& c, CUgraphicsResource raw) {
  const auto found = c.find<graphics_resource>(raw);
  require(found->is_mapped, CUDA_ERROR_NOT_MAPPED, "the resource is not mapped");
  return found;
}

// Maps or unmaps all of them, or none; in the order of the stream, which need not be waited for
// since nobody else has the memory.
CUresult set_mapped(std::span<const CUgraphicsResource> resources, CUstream in, bool is_mapped) {
  return answer([&](call& c) {
    const auto stream = c.stream_of(in);
    require(!capture_of(*stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            "graphics resources are not mapped or unmapped in a capture");
    require(!resources.empty(), CUDA_ERROR_INVALID_VALUE, "no resource is named");
    std::vector<std::shared_ptr<graphics_resource>> found;
    for (const auto raw : resources) {
      found.push_back(c.find<graphics_resource>(raw));
      require(found.back()->is_mapped != is_mapped,
              is_mapped ? CUDA_ERROR_ALREADY_MAPPED : CUDA_ERROR_NOT_MAPPED,
              is_mapped ? "the resource is mapped already" : "the resource is not mapped");
    }
    for (const auto& each : found) each->is_mapped = is_mapped;
  });
}

std::span<const CUgraphicsResource> list_of(const CUgraphicsResource* first, unsigned count) {
  return first ? std::span{first, count} : std::span<const CUgraphicsResource>{};
}

}  // namespace

CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource* pCudaResource, GLuint buffer,
                                    unsigned int Flags) noexcept {
  return answer([&](call& c) {
    require_outputs(pCudaResource);
    const auto& owner = *c.current();
    require_flags(Flags);
    const auto& has = find_graphics(c, buffer);
    require(has.bytes > 0, CUDA_ERROR_INVALID_VALUE, "this is no buffer");
    const auto made = c.d.objects.make<graphics_resource>(owner.id(), has);
    made->memory = allocate_array_memory(c, has.bytes, &made->base);
    *pCudaResource = made->handle_as<CUgraphicsResource>();
  });
}

CUresult cuGraphicsGLRegisterImage(CUgraphicsResource* pCudaResource, GLuint image, GLenum,
                                   unsigned int Flags) noexcept {
  return answer([&](call& c) {
    require_outputs(pCudaResource);
    const auto& owner = *c.current();
    require_flags(Flags);
    const auto& has = find_graphics(c, image);
    require(has.picture.Width > 0, CUDA_ERROR_INVALID_VALUE, "this is no image");
    auto shape = has.picture;
    if (Flags & CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST) shape.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
    const auto picture = make_array(c, shape);
    picture->is_view = picture->is_library_owned = true;
    const auto made = c.d.objects.make<graphics_resource>(owner.id(), has);
    made->picture = picture;
    *pCudaResource = made->handle_as<CUgraphicsResource>();
  });
}

CUresult cuGraphicsUnregisterResource(CUgraphicsResource resource) noexcept {
  return answer([&](call& c) {
    const auto gone = c.find_to_destroy<graphics_resource>(resource);
    require_safe_in_captures(c.d);
    c.d.streams.wait_for_all(c.guard, *c.current());
    if (gone->picture) c.d.objects.remove(*gone->picture);
    c.d.objects.remove(*gone);
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
  return answer([&](call& c) {
    const auto found = find_mapped(c, resource);
    require(found->memory != nullptr, CUDA_ERROR_NOT_MAPPED_AS_POINTER,
            "an image has no address: it is an array");
    if (pDevPtr) *pDevPtr = found->base;
    if (pSize) *pSize = found->description.bytes;
  });
}

CUresult cuGraphicsSubResourceGetMappedArray(CUarray* pArray, CUgraphicsResource resource,
                                             unsigned int arrayIndex,
                                             unsigned int mipLevel) noexcept {
  return answer([&](call& c) {
    require_outputs(pArray);
    const auto found = find_mapped(c, resource);
    require(found->picture != nullptr, CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "a buffer is no array");
    require(arrayIndex == 0 && mipLevel == 0, CUDA_ERROR_INVALID_VALUE,
            "the image has one layer and one level");
    *pArray = found->picture->handle_as<CUarray>();
  });
}

CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray* pMipmappedArray,
                                                   CUgraphicsResource resource) noexcept {
  return answer([&](call& c) {
    require_outputs(pMipmappedArray);
    find_mapped(c, resource);
    refuse(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "the image has one level");
  });
}

CUresult cuGraphicsResourceSetMapFlags(CUgraphicsResource resource, unsigned int flags) noexcept {
  return answer([&](call& c) {
    const auto found = c.find<graphics_resource>(resource);
    require(flags <= CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD, CUDA_ERROR_INVALID_VALUE,
            "cuda.h has no such flags to map with");
    require(!found->is_mapped, CUDA_ERROR_ALREADY_MAPPED, "the resource is mapped");
    found->map_flags = flags;
  });
}

}  // namespace halfwarp::emulator::api
