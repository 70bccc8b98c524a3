// SPDX-License-Identifier: Apache-2.0
// Arrays, the objects through which kernels reach them, and what is shared with graphics libraries:
// counted, each keeping what the driver needs under it, destroyed in the context it was made in.
#pragma once

#include "core/context.hpp"
#include "core/stream.hpp"

namespace halfwarp::core {

// The driver takes these objects back in their context only, and whoever lets the last share go may
// have another one current, or none.
template <class Call>
[[nodiscard]] CUresult release_in(const context_ref& context, Call&& call) noexcept {
  try {
    const current_scope scope{context.raw()};
    return call();
  } catch (const driver::driver_error& failure) {
    return failure.code;
  }
}

// What they have in common; `facts.in` is the context.
template <class Raw, class Facts>
struct traits_in_context {
  using raw_type = Raw;
  using parent_type = context_instance;
  using facts_type = Facts;
  static constexpr bool is_registered = false;

 protected:
  template <class Function>
  static CUresult release_by(Function& function, Raw raw, const Facts& facts) noexcept {
    return release_in(facts.in, [&] { return driver::try_call(function, raw); });
  }
};

struct mipmapped_array_facts {
  context_handle in;
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
  context_handle in;
  mipmapped_array_handle of;  // of a level: what it goes with
};

struct array_traits : traits_in_context<CUarray, array_facts> {
  static constexpr const char* destroyer = "cuArrayDestroy";
  static CUresult destroy(CUarray raw, const array_facts& facts) noexcept {
    return release_by(driver::table->cuArrayDestroy, raw, facts);
  }
};
using array_ref = handle_ref<array_traits>;
using array_handle = handle<array_traits>;

// What a texture or surface reads: it goes after the object.
struct bound_facts {
  array_handle array;
  mipmapped_array_handle levels;
  context_handle in;
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
  context_handle in;
};

struct graphics_traits : traits_in_context<CUgraphicsResource, graphics_facts> {
  static constexpr const char* destroyer = "cuGraphicsUnregisterResource";
  static CUresult destroy(CUgraphicsResource raw, const graphics_facts& facts) noexcept {
    return release_by(driver::table->cuGraphicsUnregisterResource, raw, facts);
  }
};
using graphics_ref = handle_ref<graphics_traits>;
using graphics_handle = handle<graphics_traits>;

// All in the given context, whichever is current. They throw driver_error.
[[nodiscard]] array_handle create_array(context_handle in, const CUDA_ARRAY3D_DESCRIPTOR& shape);
[[nodiscard]] mipmapped_array_handle create_mipmapped_array(context_handle in,
                                                            const CUDA_ARRAY3D_DESCRIPTOR& shape,
                                                            unsigned levels);
[[nodiscard]] array_handle level_of(const mipmapped_array_ref& of, unsigned level);
[[nodiscard]] texture_handle create_texture(context_handle in, const CUDA_RESOURCE_DESC& resource,
                                            const CUDA_TEXTURE_DESC& how, bound_facts kept);
[[nodiscard]] surface_handle create_surface(context_handle in, const CUDA_RESOURCE_DESC& resource,
                                            bound_facts kept);

// Of the current context, like that of the graphics library. Throw driver_error.
[[nodiscard]] graphics_handle register_buffer(unsigned name, unsigned flags);
[[nodiscard]] graphics_handle register_image(unsigned name, unsigned target, unsigned flags);

// A mapping of a resource, undone once. In the child of a fork, and after a reset of the device,
// there is nothing to undo.
void map_graphics(const graphics_ref& what, const stream_ref& order);
[[nodiscard]] CUresult unmap_graphics(const graphics_ref& what, const stream_ref& order) noexcept;

struct mapped_range {
  CUdeviceptr pointer = 0;
  std::size_t size = 0;
};
[[nodiscard]] mapped_range pointer_of(const graphics_ref& mapped);
// An array that goes when it is unmapped; `kept` is held as long as anybody has it.
[[nodiscard]] array_handle array_of(const graphics_ref& mapped, unsigned layer, unsigned level,
                                    CUDA_ARRAY3D_DESCRIPTOR* shape);

}  // namespace halfwarp::core
