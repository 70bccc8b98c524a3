// SPDX-License-Identifier: Apache-2.0
// Texture fetches by the formulas of the CUDA programming guide.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulator/texture/binding.hpp"

namespace halfwarp::emulator::texture {

enum class geometry : std::uint8_t { line, plane, volume, cube };

constexpr int coordinates(geometry shape) noexcept {
  return shape == geometry::line ? 1 : shape == geometry::plane ? 2 : 3;
}

// The coordinates of one thread's fetch.
struct fetch_point {
  geometry shape = geometry::line;
  std::array<float, 3> at{};
  std::array<std::int32_t, 3> index{};  // integer coordinates in place of `at`
  bool is_index = false;
  std::uint32_t layer = 0;
  bool has_gradient = false;
  float level = 0;
  std::array<float, 6> gradient{};  // derivatives of `at` along x, then along y
};

// Fetches a texel from an image at `bytes` in this process. The result holds the bits of floats or
// integers, as `binding::gives_floats` defines.
texel fetch(const binding& source, const std::byte* bytes, const fetch_point& point);
// Returns one component of the four elements that a linear filter would mix.
texel gather(const binding& source, const std::byte* bytes, const fetch_point& point,
             unsigned component);

// Returns the byte of a surface at `x` bytes and `y`, `z` elements, or null unless `size` bytes
// from there lie in a row of the surface.
const std::byte* find_surface_bytes(const image& surface, const std::byte* bytes,
                                    const std::array<std::int64_t, 3>& at, std::uint32_t size);

}  // namespace halfwarp::emulator::texture
