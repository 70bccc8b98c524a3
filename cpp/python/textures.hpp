// SPDX-License-Identifier: Apache-2.0
// Handles of the objects of cuda.core.texture.
#pragma once

#include "core/texture/texture.hpp"
#include "python/objects.hpp"

namespace halfwarp::python {

template <>
inline constexpr const char* class_name<core::array_handle> = "OpaqueArray";
template <>
inline constexpr const char* class_name<core::mipmapped_array_handle> = "MipmappedArray";
template <>
inline constexpr const char* class_name<core::texture_handle> = "TextureObject";
template <>
inline constexpr const char* class_name<core::surface_handle> = "SurfaceObject";
template <>
inline constexpr const char* class_name<core::graphics_handle> = "GraphicsResource";

using borrowed_array = borrowed<core::array_handle>;
using borrowed_mipmapped_array = borrowed<core::mipmapped_array_handle>;
using borrowed_texture = borrowed<core::texture_handle>;
using borrowed_surface = borrowed<core::surface_handle>;
using borrowed_graphics = borrowed<core::graphics_handle>;

}  // namespace halfwarp::python
