// SPDX-License-Identifier: Apache-2.0
// Making arrays, textures, surfaces and graphics resources.
#include "core/texture/texture.hpp"

#include <utility>

namespace halfwarp::core {

array_handle create_array(context_handle in, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  const current_scope scope{in.raw()};
  const relaxed_capture_scope relaxed;  // to make one is no part of what a stream records
  return array_handle::own(context_instance{in}, array_facts{in, {}}, [&](CUarray* raw) {
    driver::call(driver::table->cuArray3DCreate, raw, &shape);
  });
}

mipmapped_array_handle create_mipmapped_array(context_handle in,
                                              const CUDA_ARRAY3D_DESCRIPTOR& shape,
                                              unsigned levels) {
  const current_scope scope{in.raw()};
  const relaxed_capture_scope relaxed;
  return mipmapped_array_handle::own(
      context_instance{in}, mipmapped_array_facts{in}, [&](CUmipmappedArray* raw) {
        driver::call(driver::table->cuMipmappedArrayCreate, raw, &shape, levels);
      });
}

array_handle level_of(const mipmapped_array_ref& of, unsigned level) {
  CUarray raw = nullptr;
  driver::call(driver::table->cuMipmappedArrayGetLevel, &raw, of.raw(), level);
  return array_handle::borrow(raw, of.parent(), array_facts{{}, of.share()});
}

texture_handle create_texture(context_handle in, const CUDA_RESOURCE_DESC& resource,
                              const CUDA_TEXTURE_DESC& how, bound_facts kept) {
  const current_scope scope{in.raw()};
  const relaxed_capture_scope relaxed;
  kept.in = in;
  return texture_handle::own(context_instance{in}, std::move(kept), [&](CUtexObject* raw) {
    driver::call(driver::table->cuTexObjectCreate, raw, &resource, &how, nullptr);
  });
}

surface_handle create_surface(context_handle in, const CUDA_RESOURCE_DESC& resource,
                              bound_facts kept) {
  const current_scope scope{in.raw()};
  const relaxed_capture_scope relaxed;
  kept.in = in;
  return surface_handle::own(context_instance{in}, std::move(kept), [&](CUsurfObject* raw) {
    driver::call(driver::table->cuSurfObjectCreate, raw, &resource);
  });
}

graphics_handle register_buffer(unsigned name, unsigned flags) {
  const context_handle in = current_context();
  return graphics_handle::own(
      context_instance{in}, graphics_facts{in}, [&](CUgraphicsResource* raw) {
        driver::call(driver::table->cuGraphicsGLRegisterBuffer, raw, name, flags);
      });
}

graphics_handle register_image(unsigned name, unsigned target, unsigned flags) {
  const context_handle in = current_context();
  return graphics_handle::own(
      context_instance{in}, graphics_facts{in}, [&](CUgraphicsResource* raw) {
        driver::call(driver::table->cuGraphicsGLRegisterImage, raw, name, target, flags);
      });
}

void map_graphics(const graphics_ref& what, const stream_ref& order) {
  CUgraphicsResource raw = what.raw();
  driver::call(driver::table->cuGraphicsMapResources, 1u, &raw, order.raw());
}

CUresult unmap_graphics(const graphics_ref& what, const stream_ref& order) noexcept {
  if (!what.is_of_this_process() || what.parent().is_gone()) return CUDA_SUCCESS;
  CUgraphicsResource raw = what.raw();
  return release<capture::relaxed>([&] {
    return release_in(what.parent().context(), [&] {
      return driver::try_call(driver::table->cuGraphicsUnmapResources, 1u, &raw, order.raw());
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
