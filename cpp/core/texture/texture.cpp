// SPDX-License-Identifier: Apache-2.0
// Creates arrays, textures, surfaces and graphics resources.
#include "core/texture/texture.hpp"

#include <utility>

namespace halfwarp::core {

array_handle create_array(context_handle context, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  const current_scope scope{context.raw()};
  const relaxed_capture_scope relaxed;  // creation is not captured
  return array_handle::own(context_instance{context}, array_facts{context, {}}, [&](CUarray* raw) {
    driver::call(driver::table->cuArray3DCreate, raw, &shape);
  });
}

mipmapped_array_handle create_mipmapped_array(context_handle context,
                                              const CUDA_ARRAY3D_DESCRIPTOR& shape,
                                              unsigned levels) {
  const current_scope scope{context.raw()};
  const relaxed_capture_scope relaxed;
  return mipmapped_array_handle::own(
      context_instance{context}, mipmapped_array_facts{context}, [&](CUmipmappedArray* raw) {
        driver::call(driver::table->cuMipmappedArrayCreate, raw, &shape, levels);
      });
}

array_handle level_of(const mipmapped_array_ref& array, unsigned level) {
  CUarray raw = nullptr;
  driver::call(driver::table->cuMipmappedArrayGetLevel, &raw, array.raw(), level);
  return array_handle::borrow(raw, array.parent(), array_facts{{}, array.share()});
}

texture_handle create_texture(context_handle context, const CUDA_RESOURCE_DESC& resource,
                              const CUDA_TEXTURE_DESC& params, bound_facts facts) {
  const current_scope scope{context.raw()};
  const relaxed_capture_scope relaxed;
  facts.context = context;
  return texture_handle::own(context_instance{context}, std::move(facts), [&](CUtexObject* raw) {
    driver::call(driver::table->cuTexObjectCreate, raw, &resource, &params, nullptr);
  });
}

surface_handle create_surface(context_handle context, const CUDA_RESOURCE_DESC& resource,
                              bound_facts facts) {
  const current_scope scope{context.raw()};
  const relaxed_capture_scope relaxed;
  facts.context = context;
  return surface_handle::own(context_instance{context}, std::move(facts), [&](CUsurfObject* raw) {
    driver::call(driver::table->cuSurfObjectCreate, raw, &resource);
  });
}

graphics_handle register_buffer(unsigned name, unsigned flags) {
  const context_handle context = current_context();
  return graphics_handle::own(
      context_instance{context}, graphics_facts{context}, [&](CUgraphicsResource* raw) {
        driver::call(driver::table->cuGraphicsGLRegisterBuffer, raw, name, flags);
      });
}

graphics_handle register_image(unsigned name, unsigned target, unsigned flags) {
  const context_handle context = current_context();
  return graphics_handle::own(
      context_instance{context}, graphics_facts{context}, [&](CUgraphicsResource* raw) {
        driver::call(driver::table->cuGraphicsGLRegisterImage, raw, name, target, flags);
      });
}

void map_graphics(const graphics_ref& resource, const stream_ref& stream) {
  CUgraphicsResource raw = resource.raw();
  driver::call(driver::table->cuGraphicsMapResources, 1u, &raw, stream.raw());
}

CUresult unmap_graphics(const graphics_ref& resource, const stream_ref& stream) noexcept {
  if (!resource.is_of_this_process() || resource.parent().is_destroyed()) return CUDA_SUCCESS;
  CUgraphicsResource raw = resource.raw();
  return release<capture::relaxed>([&] {
    return release_in(resource.parent().context(), [&] {
      return driver::try_call(driver::table->cuGraphicsUnmapResources, 1u, &raw, stream.raw());
    });
  });
}

mapped_range pointer_of(const graphics_ref& mapped) {
  mapped_range range;
  driver::call(driver::table->cuGraphicsResourceGetMappedPointer, &range.pointer, &range.size,
               mapped.raw());
  return range;
}

array_handle array_of(const graphics_ref& mapped, unsigned layer, unsigned level,
                      CUDA_ARRAY3D_DESCRIPTOR* shape) {
  CUarray raw = nullptr;
  driver::call(driver::table->cuGraphicsSubResourceGetMappedArray, &raw, mapped.raw(), layer,
               level);
  driver::call(driver::table->cuArray3DGetDescriptor, shape, raw);
  return array_handle::borrow(raw, mapped.parent());
}

}  // namespace halfwarp::core
