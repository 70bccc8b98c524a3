// SPDX-License-Identifier: Apache-2.0
// Converts the elements of arrays.
#include "emulator/texture/texel_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace halfwarp::emulator::texture {
namespace {

float half_to_float(std::uint16_t bits) noexcept {
  const int exponent = bits >> 10 & 31;
  const auto fraction = static_cast<float>(bits & 0x3ff);
  float magnitude;
  if (exponent == 31) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024.0f + fraction, exponent - 25);
  }
  return std::copysign(magnitude, bits & 0x8000 ? -1.0f : 1.0f);
}

template <class Stored>
std::uint32_t load(const std::byte* at) noexcept {
  Stored value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<std::uint32_t>(value);
}

std::uint32_t load_component(CUarray_format type, const std::byte* at) noexcept {
  switch (type) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
      return load<std::uint8_t>(at);
    case CU_AD_FORMAT_SIGNED_INT8:
      return load<std::int8_t>(at);
    case CU_AD_FORMAT_UNSIGNED_INT16:
      return load<std::uint16_t>(at);
    case CU_AD_FORMAT_SIGNED_INT16:
      return load<std::int16_t>(at);
    case CU_AD_FORMAT_HALF:
      return std::bit_cast<std::uint32_t>(
          half_to_float(static_cast<std::uint16_t>(load<std::uint16_t>(at))));
    default:
      return load<std::uint32_t>(at);
  }
}

}  // namespace

unsigned texel_format::component_bytes() const noexcept {
  switch (type) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      return 4;
    default:
      return 0;
  }
}

texel load_texel(const texel_format& format, const std::byte* at) noexcept {
  texel result{};
  if (format.type == CU_AD_FORMAT_FLOAT && format.channels == 1) {
    std::memcpy(result.data(), at, sizeof(float));
    return result;
  }
  const unsigned step = format.component_bytes();
  for (unsigned i = 0; i < format.channels; ++i)
    result[i] = load_component(format.type, at + i * step);
  return result;
}

float as_number(const texel_format& format, std::uint32_t component, bool is_normalized) noexcept {
  if (format.is_floating()) return std::bit_cast<float>(component);
  const auto as_signed = static_cast<std::int32_t>(component);
  if (!is_normalized || !format.is_normalizable()) {
    return format.is_signed() ? static_cast<float>(as_signed) : static_cast<float>(component);
  }
  const int bits = static_cast<int>(8 * format.component_bytes());
  if (!format.is_signed()) {
    return static_cast<float>(component) / static_cast<float>((1u << bits) - 1);
  }
  // The most negative number is clamped to -1.
  const float largest = static_cast<float>((1 << (bits - 1)) - 1);
  return std::max(static_cast<float>(as_signed) / largest, -1.0f);
}

float from_srgb(float component) noexcept {
  return component <= 0.04045f ? component / 12.92f : std::pow((component + 0.055f) / 1.055f, 2.4f);
}

}  // namespace halfwarp::emulator::texture
