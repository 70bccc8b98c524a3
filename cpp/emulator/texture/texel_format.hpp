// SPDX-License-Identifier: Apache-2.0
// What one element of an array or texture is made of, and what is read from it.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace halfwarp::emulator::texture {

// Bits of up to four components: of floats, or of integers extended to 32 bits.
using texel = std::array<std::uint32_t, 4>;

struct texel_format {
  CUarray_format type = CU_AD_FORMAT_UNSIGNED_INT8;
  unsigned channels = 1;

  // 0: a format that the emulator does not have.
  unsigned component_bytes() const noexcept;
  unsigned bytes() const noexcept { return component_bytes() * channels; }
  bool is_floating() const noexcept {
    return type == CU_AD_FORMAT_HALF || type == CU_AD_FORMAT_FLOAT;
  }
  bool is_signed() const noexcept {
    return type == CU_AD_FORMAT_SIGNED_INT8 || type == CU_AD_FORMAT_SIGNED_INT16 ||
           type == CU_AD_FORMAT_SIGNED_INT32;
  }
  // Whether its integers can be read as fractions of the largest one.
  bool is_normalizable() const noexcept { return !is_floating() && component_bytes() < 4; }
};

// The components as they are; those that are missing are 0.
texel load_texel(const texel_format& of, const std::byte* at) noexcept;
// A component as a number: an integer, of a format that can be, as a fraction of the largest.
float as_number(const texel_format& of, std::uint32_t component, bool is_normalized) noexcept;
// Of an sRGB component between 0 and 1, the brightness.
float from_srgb(float component) noexcept;

}  // namespace halfwarp::emulator::texture
