// SPDX-License-Identifier: Apache-2.0
// Tests fetches by the formulas of the CUDA programming guide.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "sampled.hpp"

namespace halfwarp::emulator::texture {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(texture_sampler, counts_coordinates) {
  EXPECT_EQ(coordinates(geometry::line), 1);
  EXPECT_EQ(coordinates(geometry::plane), 2);
  EXPECT_EQ(coordinates(geometry::volume), 3);
  EXPECT_EQ(coordinates(geometry::cube), 3);
}

TEST(texture_sampler, reads_the_element_of_a_point) {
  const sampled image = floats(5, 3, 2);
  for (std::int64_t z = 0; z < 2; ++z) {
    for (std::int64_t y = 0; y < 3; ++y) {
      for (std::int64_t x = 0; x < 5; ++x) {
        fetch_point point =
            at(geometry::volume, {static_cast<float>(x) + 0.75f, static_cast<float>(y), z + 0.5f});
        EXPECT_EQ(image.number(point), value_at(x, y, z));
        point.is_index = true;
        point.index = {static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)};
        point.at = {};
        EXPECT_EQ(image.number(point), value_at(x, y, z));
      }
    }
  }
}

TEST(texture_sampler, clamps_layers) {
  sampled image = floats(2, 2, 3);
  for (const bool is_linear : {false, true}) {
    if (is_linear) image.source.descriptor.filterMode = CU_TR_FILTER_MODE_LINEAR;
    for (const geometry shape : {geometry::line, geometry::plane}) {
      const float y = shape == geometry::line ? 0 : 1;
      for (std::uint32_t layer = 0; layer < 5; ++layer) {
        fetch_point point = at(shape, {1.5f, 1.5f, 0});
        point.layer = layer;
        image.source.image.is_layered = true;
        EXPECT_EQ(image.number(point), value_at(1, y, std::min(layer, 2u)));
        image.source.image.is_layered = false;
        EXPECT_EQ(image.number(point), value_at(1, y, 0));
      }
    }
  }
}

TEST(texture_sampler, has_a_border_of_floats) {
  sampled image = floats(2, 2, 2);
  image.set_mode(CU_TR_ADDRESS_MODE_BORDER);
  image.source.descriptor.borderColor[0] = -7.5f;
  for (const std::array<float, 3> outside : {std::array<float, 3>{-1, 0, 0}, {0, 2, 0}, {0, 0, 2}})
    EXPECT_EQ(image.number(at(geometry::volume, outside)), -7.5f);
}

TEST(texture_sampler, has_a_border_of_the_low_bits_for_integers) {
  constexpr float colors[] = {1.3f, -1.7f, 2.9f, 3.1f};
  const auto border = [&](CUarray_format type, unsigned channels) {
    sampled image{{type, channels}};
    image.add_level<char>(1, 1, 1, [](auto...) { return 0; });
    image.set_mode(CU_TR_ADDRESS_MODE_BORDER);
    image.source.descriptor.flags = CU_TRSF_READ_AS_INTEGER;
    std::copy_n(colors, 4, image.source.descriptor.borderColor);
    return image.fetched(at(geometry::line, {-1, 0, 0}));
  };
  const auto bits = [&](int i) { return std::bit_cast<std::uint32_t>(colors[i]); };
  EXPECT_EQ(border(CU_AD_FORMAT_UNSIGNED_INT8, 4),
            (texel{bits(0) & 0xff, bits(1) & 0xff, bits(2) & 0xff, bits(3) & 0xff}));
  EXPECT_EQ(border(CU_AD_FORMAT_UNSIGNED_INT16, 2),
            (texel{bits(0) & 0xffff, bits(1) & 0xffff, 0, 0}));
  EXPECT_EQ(border(CU_AD_FORMAT_UNSIGNED_INT32, 1), (texel{bits(0), 0, 0, 0}));
}

TEST(texture_sampler, converts_normalized_and_srgb_components) {
  sampled image{{CU_AD_FORMAT_UNSIGNED_INT8, 4}};
  image.add_level<std::uint8_t>(1, 1, 1, [](auto...) { return 100; });
  const fetch_point point = at(geometry::line, {});
  for (const bool is_srgb : {false, true}) {
    if (is_srgb) image.source.descriptor.flags = CU_TRSF_SRGB;
    const texel result = image.fetched(point);
    for (unsigned i = 0; i < 4; ++i) {
      const float fraction = static_cast<float>(100 + 16 * i) / 255;
      EXPECT_EQ(std::bit_cast<float>(result[i]), is_srgb && i < 3 ? from_srgb(fraction) : fraction);
    }
  }
  sampled wide{{CU_AD_FORMAT_UNSIGNED_INT16, 1}};
  wide.add_level<std::uint16_t>(1, 1, 1, [](auto...) { return 13107; });
  wide.source.descriptor.flags = CU_TRSF_SRGB;
  EXPECT_EQ(wide.number(point), 0.2f);
}

// The guide: T[i] of x - 0.5, and a fraction with 8 bits. These fractions have exact products.
TEST(texture_sampler, mixes_adjacent_elements) {
  sampled image = floats(4, 4, 4);
  image.source.descriptor.filterMode = CU_TR_FILTER_MODE_LINEAR;
  const auto mix = [](float a, float from, float to) { return (1 - a) * from + a * to; };
  for (const float a : {0.0f, 0.25f, 0.75f}) {
    for (const float b : {0.0f, 0.25f, 0.5f}) {
      const auto of_plane = [&](int z) {
        return mix(b, mix(a, value_at(1, 2, z), value_at(2, 2, z)),
                   mix(a, value_at(1, 3, z), value_at(2, 3, z)));
      };
      EXPECT_EQ(image.number(at(geometry::line, {1.5f + a, 9, 9})),
                mix(a, value_at(1, 0, 0), value_at(2, 0, 0)));
      EXPECT_EQ(image.number(at(geometry::plane, {1.5f + a, 2.5f + b, 9})), of_plane(0));
      for (const float c : {0.0f, 0.25f, 0.5f})
        EXPECT_EQ(image.number(at(geometry::volume, {1.5f + a, 2.5f + b, 0.5f + c})),
                  mix(c, of_plane(0), of_plane(1)));
    }
  }
}

TEST(texture_sampler, mixes_no_color_without_weight) {
  sampled image{one_float};
  image.add_level<float>(2, 1, 1, [](auto x, auto...) { return x ? infinity : 5; });
  image.source.descriptor.filterMode = CU_TR_FILTER_MODE_LINEAR;
  EXPECT_EQ(image.number(at(geometry::line, {0.5f, 0, 0})), 5);
  EXPECT_EQ(image.number(at(geometry::line, {0.75f, 0, 0})), infinity);
}

TEST(texture_sampler, rounds_mixed_integers) {
  sampled image{{CU_AD_FORMAT_SIGNED_INT32, 2}};
  image.add_level<std::int32_t>(2, 1, 1, [](auto x, auto...) { return x ? 5 : -20; });
  image.source.descriptor.filterMode = CU_TR_FILTER_MODE_LINEAR;
  const auto mixed = [&](float place) { return image.fetched(at(geometry::line, {place, 0, 0})); };
  EXPECT_EQ(mixed(0.75f), (texel{static_cast<std::uint32_t>(-14), 2, 0, 0}));  // -13.75, 2.25
  EXPECT_EQ(mixed(1.0f), (texel{static_cast<std::uint32_t>(-7), 9, 0, 0}));    // -7.5, 8.5
  EXPECT_EQ(mixed(1.25f), (texel{static_cast<std::uint32_t>(-1), 15, 0, 0}));  // -1.25, 14.75
}

TEST(texture_sampler, mixes_narrow_integers_without_normalization) {
  sampled image{{CU_AD_FORMAT_UNSIGNED_INT8, 1}};
  image.add_level<std::uint8_t>(2, 1, 1, [](auto x, auto...) { return x ? 200 : 100; });
  image.source.descriptor.filterMode = CU_TR_FILTER_MODE_LINEAR;
  image.source.descriptor.flags = CU_TRSF_READ_AS_INTEGER;
  EXPECT_EQ(image.fetched(at(geometry::line, {0.75f, 0, 0})), (texel{125, 0, 0, 0}));
}

// The row of a line is sampled at 0, half of it is the border beside the row.
TEST(texture_sampler, mixes_a_line_with_the_border_of_its_row) {
  sampled image = floats(4, 1, 1);
  image.source.descriptor.filterMode = CU_TR_FILTER_MODE_LINEAR;
  image.source.descriptor.borderColor[0] = 64;
  const fetch_point point = at(geometry::line, {2.5f, 0, 0});
  EXPECT_EQ(image.number(point), value_at(2, 0, 0));
  image.source.descriptor.addressMode[1] = CU_TR_ADDRESS_MODE_BORDER;
  EXPECT_EQ(image.number(point), (value_at(2, 0, 0) + 64) / 2);
  EXPECT_EQ(image.number(at(geometry::plane, {4, 0.5f, 0})), value_at(3, 0, 0));
  image.source.descriptor.addressMode[0] = CU_TR_ADDRESS_MODE_BORDER;
  EXPECT_EQ(image.number(at(geometry::plane, {4, 0.5f, 0})), (value_at(3, 0, 0) + 64) / 2);
}

TEST(texture_sampler, gathers_around_a_point) {
  sampled image{{CU_AD_FORMAT_FLOAT, 2}};
  image.add_level<float>(4, 4, 1, value_at);
  const fetch_point point = at(geometry::plane, {2.0f, 3.0f, 0});
  for (unsigned component = 0; component < 2; ++component) {
    const texel result = gather(image.source, image.bytes.data(), point, component);
    const auto expected = [&](int x, int y) {
      return std::bit_cast<std::uint32_t>(value_at(x, y, 0) + 16 * static_cast<float>(component));
    };
    EXPECT_EQ(result, (texel{expected(1, 3), expected(2, 3), expected(2, 2), expected(1, 2)}));
  }
}

TEST(texture_sampler, reads_linear_memory_inside_only) {
  sampled image = floats(4, 1, 1);
  image.source.image.kind = image_kind::linear;
  image.set_mode(CU_TR_ADDRESS_MODE_BORDER);
  image.source.descriptor.borderColor[0] = 8;
  for (int index = -2; index < 6; ++index) {
    const float expected = index < 0 || index > 3 ? 0 : value_at(index, 0, 0);
    fetch_point point = at(geometry::line, {static_cast<float>(index) + 0.75f, 0, 0});
    EXPECT_EQ(image.number(point), expected) << index;
    point.is_index = true;
    point.index = {index, 0, 0};
    point.at = {};
    EXPECT_EQ(image.number(point), expected) << index;
  }
}

TEST(texture_sampler, finds_bytes_of_surfaces) {
  const sampled image = floats(4, 3, 2);
  const image_level& level = image.source.image.levels[0];
  const auto offset = [&](std::int64_t x, std::int64_t y, std::int64_t z, std::uint32_t size) {
    const std::byte* result =
        find_surface_bytes(image.source.image, image.bytes.data(), {x, y, z}, size);
    return result ? result - image.bytes.data() : -1;
  };
  const auto expected =
      static_cast<std::int64_t>(level.offset + level.slice_pitch + 2 * level.row_pitch + 12);
  EXPECT_EQ(offset(12, 2, 1, 4), expected);
  EXPECT_EQ(offset(0, 0, 0, 16), static_cast<std::int64_t>(level.offset));
  EXPECT_EQ(offset(13, 2, 1, 4), -1);
  EXPECT_EQ(offset(-1, 2, 1, 4), -1);
  EXPECT_EQ(offset(12, -1, 1, 4), -1);
  EXPECT_EQ(offset(12, 3, 1, 4), -1);
  EXPECT_EQ(offset(12, 2, -1, 4), -1);
  EXPECT_EQ(offset(12, 2, 2, 4), -1);
}

}  // namespace
}  // namespace halfwarp::emulator::texture
