// SPDX-License-Identifier: Apache-2.0
// Texture fetching, by the formulas of the CUDA programming guide.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulator/texture/binding.hpp"

namespace halfwarp::emulator::texture {

enum class geometry : std::uint8_t { line, plane, volume, cube };

constexpr int coordinates(geometry of) noexcept {
  return of == geometry::line ? 1 : of == geometry::plane ? 2 : 3;
}

// Where one thread reads.
struct fetch_point {
  geometry shape = geometry::line;
  std::array<float, 3> at{};
  std::array<std::int32_t, 3> index{};  // in place of `at`, of integer coordinates
  bool is_index = false;
  std::uint32_t layer = 0;
  bool has_gradient = false;
  float level = 0;
  std::array<float, 6> gradient{};  // of `at` along x, then along y
};

// `bytes`: where the image is in this process. The result is bits of floats or integers, as
// `binding::gives_floats` says.
texel fetch(const binding& from, const std::byte* bytes, const fetch_point& point);
// One component of the four elements that a linear filter would mix.
texel gather(const binding& from, const std::byte* bytes, const fetch_point& point,
             unsigned component);

// Of a surface: the byte at `x` bytes and `y`, `z` elements; null when `size` bytes from there do
// not lie in the row, or there is no such row.
const std::byte* find_surface_bytes(const image& in, const std::byte* bytes,
                                    const std::array<std::int64_t, 3>& at, std::uint32_t size);

}  // namespace halfwarp::emulator::texture
