// SPDX-License-Identifier: Apache-2.0
// The format of an element of an array or texture, and its conversion.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace halfwarp::emulator::texture {

// The bits of up to four components: floats, or integers extended to 32 bits.
using texel = std::array<std::uint32_t, 4>;

struct texel_format {
  CUarray_format type = CU_AD_FORMAT_UNSIGNED_INT8;
  unsigned channels = 1;

  // Returns 0 for a format that is not emulated.
  unsigned component_bytes() const noexcept;
  unsigned bytes() const noexcept { return component_bytes() * channels; }
  bool is_floating() const noexcept {
    return type == CU_AD_FORMAT_HALF || type == CU_AD_FORMAT_FLOAT;
  }
  bool is_signed() const noexcept {
    return type == CU_AD_FORMAT_SIGNED_INT8 || type == CU_AD_FORMAT_SIGNED_INT16 ||
           type == CU_AD_FORMAT_SIGNED_INT32;
  }
  // Returns whether integers can be read as fractions of the largest one.
  bool is_normalizable() const noexcept { return !is_floating() && component_bytes() < 4; }
};

// Loads the components without conversion; absent ones are 0.
texel load_texel(const texel_format& format, const std::byte* at) noexcept;
// Converts a component to a number; a normalizable integer to a fraction if `is_normalized`.
float as_number(const texel_format& format, std::uint32_t component, bool is_normalized) noexcept;
// Converts an sRGB component between 0 and 1 to a linear value.
float from_srgb(float component) noexcept;

}  // namespace halfwarp::emulator::texture
