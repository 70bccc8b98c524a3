// SPDX-License-Identifier: Apache-2.0
// An image in memory, for tests of fetches.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "emulator/texture/sampler.hpp"

namespace halfwarp::emulator::texture {

// An image and its bytes. Rows, slices and levels are not adjacent.
struct sampled {
  binding source;
  std::vector<std::byte> bytes;

  explicit sampled(texel_format format) {
    source.image.format = format;
    for (CUaddress_mode& each : source.descriptor.addressMode) each = CU_TR_ADDRESS_MODE_CLAMP;
    source.descriptor.filterMode = CU_TR_FILTER_MODE_POINT;
    source.descriptor.mipmapFilterMode = CU_TR_FILTER_MODE_POINT;
    source.descriptor.maxMipmapLevelClamp = 99;
  }

  template <typename component, typename function>
  void add_level(std::uint32_t width, std::uint32_t height, std::uint32_t depth, function value) {
    const texel_format& format = source.image.format;
    image_level level{bytes.size() + 16, width, height, depth, width * format.bytes() + 8, 0};
    level.slice_pitch = height * level.row_pitch + 24;
    bytes.resize(level.offset + depth * level.slice_pitch, std::byte{0x3f});
    for (std::uint32_t i = 0; i < width * height * depth; ++i) {
      const std::uint32_t x = i % width, y = i / width % height, z = i / width / height;
      for (unsigned channel = 0; channel < format.channels; ++channel) {
        const auto stored = static_cast<component>(value(x, y, z) + 16 * channel);
        std::memcpy(bytes.data() + level.offset + z * level.slice_pitch + y * level.row_pitch +
                        x * format.bytes() + channel * sizeof stored,
                    &stored, sizeof stored);
      }
    }
    source.image.levels.push_back(level);
  }

  void set_mode(CUaddress_mode mode) {
    for (CUaddress_mode& each : source.descriptor.addressMode) each = mode;
  }

  texel fetched(const fetch_point& point) const { return fetch(source, bytes.data(), point); }
  float number(const fetch_point& point) const { return std::bit_cast<float>(fetched(point)[0]); }
};

inline constexpr texel_format one_float{CU_AD_FORMAT_FLOAT, 1};

inline float value_at(std::int64_t x, std::int64_t y, std::int64_t z) {
  return static_cast<float>(1 + x * x + 32 * y * y + 1024 * z * z);
}

inline sampled floats(std::uint32_t width, std::uint32_t height, std::uint32_t depth) {
  sampled result{one_float};
  result.add_level<float>(width, height, depth, value_at);
  return result;
}

inline fetch_point at(geometry shape, std::array<float, 3> coordinates) {
  fetch_point result;
  result.shape = shape;
  result.at = coordinates;
  return result;
}

}  // namespace halfwarp::emulator::texture
