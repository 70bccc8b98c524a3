// SPDX-License-Identifier: Apache-2.0
// Arrays, texture and surface objects, and graphics resources: reference-counted, each retaining
// what it refers to, destroyed in the context in which it was created.
#pragma once

#include "core/context.hpp"
#include "core/stream.hpp"

namespace halfwarp::core {

// Makes a call in the object's context. The driver accepts these objects in their context only, and
// the thread that releases the last reference may have another current context, or none.
template <class Call>
[[nodiscard]] CUresult release_in(const context_ref& context, Call&& call) noexcept {
  try {
    const current_scope scope{context.raw()};
    return call();
  } catch (const driver::driver_error& failure) {
    return failure.code;
  }
}

// Traits shared by these objects; `facts.context` is their context.
template <class Raw, class Facts>
struct traits_in_context {
  using raw_type = Raw;
  using parent_type = context_instance;
  using facts_type = Facts;
  static constexpr bool is_registered = false;

 protected:
  template <class Function>
  static CUresult release_by(Function& function, Raw raw, const Facts& facts) noexcept {
    return release_in(facts.context, [&] { return driver::try_call(function, raw); });
  }
};

struct mipmapped_array_facts {
  context_handle context;
};

struct mipmapped_array_traits : traits_in_context<CUmipmappedArray, mipmapped_array_facts> {
  static constexpr const char* destroyer = "cuMipmappedArrayDestroy";
  static CUresult destroy(CUmipmappedArray raw, const mipmapped_array_facts& facts) noexcept {
    return release_by(driver::table->cuMipmappedArrayDestroy, raw, facts);
  }
};
using mipmapped_array_ref = handle_ref<mipmapped_array_traits>;
using mipmapped_array_handle = handle<mipmapped_array_traits>;

struct array_facts {
  context_handle context;
  mipmapped_array_handle parent_array;  // set for a level: destroyed with it
};

struct array_traits : traits_in_context<CUarray, array_facts> {
  static constexpr const char* destroyer = "cuArrayDestroy";
  static CUresult destroy(CUarray raw, const array_facts& facts) noexcept {
    return release_by(driver::table->cuArrayDestroy, raw, facts);
  }
};
using array_ref = handle_ref<array_traits>;
using array_handle = handle<array_traits>;

// The array of a texture or surface, which is destroyed after the object.
struct bound_facts {
  array_handle array;
  mipmapped_array_handle levels;
  context_handle context;
};

struct texture_traits : traits_in_context<CUtexObject, bound_facts> {
  static constexpr const char* destroyer = "cuTexObjectDestroy";
  static CUresult destroy(CUtexObject raw, const bound_facts& facts) noexcept {
    return release_by(driver::table->cuTexObjectDestroy, raw, facts);
  }
};
using texture_ref = handle_ref<texture_traits>;
using texture_handle = handle<texture_traits>;

struct surface_traits : traits_in_context<CUsurfObject, bound_facts> {
  static constexpr const char* destroyer = "cuSurfObjectDestroy";
  static CUresult destroy(CUsurfObject raw, const bound_facts& facts) noexcept {
    return release_by(driver::table->cuSurfObjectDestroy, raw, facts);
  }
};
using surface_ref = handle_ref<surface_traits>;
using surface_handle = handle<surface_traits>;

struct graphics_facts {
  context_handle context;
};

struct graphics_traits : traits_in_context<CUgraphicsResource, graphics_facts> {
  static constexpr const char* destroyer = "cuGraphicsUnregisterResource";
  static CUresult destroy(CUgraphicsResource raw, const graphics_facts& facts) noexcept {
    return release_by(driver::table->cuGraphicsUnregisterResource, raw, facts);
  }
};
using graphics_ref = handle_ref<graphics_traits>;
using graphics_handle = handle<graphics_traits>;

// Create objects in `context`, whichever is current. They throw driver_error.
[[nodiscard]] array_handle create_array(context_handle context,
                                        const CUDA_ARRAY3D_DESCRIPTOR& shape);
[[nodiscard]] mipmapped_array_handle create_mipmapped_array(context_handle context,
                                                            const CUDA_ARRAY3D_DESCRIPTOR& shape,
                                                            unsigned levels);
[[nodiscard]] array_handle level_of(const mipmapped_array_ref& array, unsigned level);
[[nodiscard]] texture_handle create_texture(context_handle context,
                                            const CUDA_RESOURCE_DESC& resource,
                                            const CUDA_TEXTURE_DESC& params, bound_facts facts);
[[nodiscard]] surface_handle create_surface(context_handle context,
                                            const CUDA_RESOURCE_DESC& resource, bound_facts facts);

// Register resources in the current context, which the graphics library must use too. They throw
// driver_error.
[[nodiscard]] graphics_handle register_buffer(unsigned name, unsigned flags);
[[nodiscard]] graphics_handle register_image(unsigned name, unsigned target, unsigned flags);

// A mapping of a resource is undone once. Unmapping does nothing in a child process, and after a
// reset of the device.
void map_graphics(const graphics_ref& resource, const stream_ref& stream);
[[nodiscard]] CUresult unmap_graphics(const graphics_ref& resource,
                                      const stream_ref& stream) noexcept;

struct mapped_range {
  CUdeviceptr pointer = 0;
  std::size_t size = 0;
};
[[nodiscard]] mapped_range pointer_of(const graphics_ref& mapped);
// Returns an array that is destroyed when the resource is unmapped.
[[nodiscard]] array_handle array_of(const graphics_ref& mapped, unsigned layer, unsigned level,
                                    CUDA_ARRAY3D_DESCRIPTOR* shape);

}  // namespace halfwarp::core
