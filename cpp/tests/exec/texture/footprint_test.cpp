// SPDX-License-Identifier: Apache-2.0
// Tests mipmaps, cubemaps and footprints by the formulas of the CUDA guide and of OpenGL.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sampled.hpp"

namespace halfwarp::emulator::texture {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float size = 64;

// Each level holds its number, so that a fetch returns the level that it reads.
sampled numbered_levels(bool is_linear, std::uint32_t depth = 1) {
  sampled image{one_float};
  for (int level = 0; level < 7; ++level) {
    const std::uint32_t extent = 64u >> level;
    image.add_level<float>(extent, extent, depth, [level](auto...) { return level; });
  }
  image.source.descriptor.mipmapFilterMode =
      is_linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
  return image;
}

fetch_point at_level(float level) {
  fetch_point point = at(geometry::plane, {0.5f, 0.5f, 0});
  point.level = level;
  return point;
}

// The derivatives are in elements of the first level.
fetch_point with_gradient(geometry shape, std::array<float, 6> derivatives, float scale = size) {
  fetch_point point = at(shape, {0.5f, 0.5f, 0.5f});
  point.has_gradient = true;
  for (std::size_t i = 0; i < 6; ++i) point.gradient[i] = derivatives[i] / scale;
  return point;
}

TEST(texture_levels, reads_the_nearest_level) {
  const sampled image = numbered_levels(false);
  EXPECT_EQ(image.number(at_level(1.25f)), 1);
  EXPECT_EQ(image.number(at_level(1.5f)), 2);
  EXPECT_EQ(image.number(at_level(-3)), 0);
  EXPECT_EQ(image.number(at_level(9)), 6);
}

TEST(texture_levels, mixes_two_levels) {
  const sampled image = numbered_levels(true);
  EXPECT_EQ(image.number(at_level(1.25f)), 1.25f);
  EXPECT_EQ(image.number(at_level(2 + 1.0f / 256)), 2 + 1.0f / 256);
  EXPECT_EQ(image.number(at_level(2 + 1.0f / 1024)), 2);
  EXPECT_EQ(image.number(at_level(9)), 6);
}

TEST(texture_levels, adds_the_bias_before_the_clamp) {
  sampled image = numbered_levels(true);
  CUDA_TEXTURE_DESC& descriptor = image.source.descriptor;
  descriptor.mipmapLevelBias = 0.75f;
  descriptor.minMipmapLevelClamp = 0.5f;
  descriptor.maxMipmapLevelClamp = 3.25f;
  EXPECT_EQ(image.number(at_level(1)), 1.75f);
  EXPECT_EQ(image.number(at_level(not_a_number)), 0.75f);
  EXPECT_EQ(image.number(at_level(-1)), 0.5f);
  EXPECT_EQ(image.number(at_level(3)), 3.25f);
  descriptor.minMipmapLevelClamp = 4.5f;
  EXPECT_EQ(image.number(at_level(1)), 4.5f);
}

TEST(texture_levels, reads_integers_of_the_nearest_level) {
  sampled image{{CU_AD_FORMAT_UNSIGNED_INT32, 1}};
  for (const std::uint32_t level : {0u, 1u})
    image.add_level<std::uint32_t>(2 - level, 1, 1, [=](auto...) { return 7 + level; });
  image.source.descriptor.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
  EXPECT_EQ(image.fetched(at_level(0.25f))[0], 7u);
  EXPECT_EQ(image.fetched(at_level(0.75f))[0], 8u);
}

float rounded_level(float diameter) { return std::floor(std::log2(diameter) * 256 + 0.5f) / 256; }

// The coefficients were measured on an H200: sides of 1, 11/32 and 1/4, diagonals of 11/16.
TEST(texture_footprint, selects_the_level_of_its_longest_diameter) {
  const sampled image = numbered_levels(true, 64);
  const auto level = [&](geometry shape, std::array<float, 6> derivatives) {
    return image.number(with_gradient(shape, derivatives));
  };
  EXPECT_EQ(level(geometry::line, {4, 8}), rounded_level((4 + 8) * (11.0f / 16)));
  EXPECT_EQ(level(geometry::line, {-8, 4}), rounded_level((8 + 4) * (11.0f / 16)));
  EXPECT_EQ(level(geometry::line, {8, 0}), 3);
  EXPECT_EQ(level(geometry::line, {0, 0.5f}), 0);
  EXPECT_EQ(level(geometry::plane, {4, 0, 0, 4}), 2);
  EXPECT_EQ(level(geometry::plane, {4, 0, 0, 8}), 3);
  EXPECT_EQ(level(geometry::plane, {8, -4, 0, 0}), rounded_level(8 + 4 * (11.0f / 32)));
  EXPECT_EQ(level(geometry::volume, {4, 16, -8, 0, 0, 0}),
            rounded_level(16 + 8 * (11.0f / 32) + 4 / 4.0f));
  EXPECT_EQ(level(geometry::volume, {0, 0, 0, 0, 0, 16}), 4);
}

TEST(texture_footprint, is_scaled_by_each_extent) {
  sampled image{one_float};
  for (int level = 0; level < 4; ++level)
    image.add_level<float>(8u >> level, 16u >> level, 32u >> level, [=](auto...) { return level; });
  image.source.descriptor.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
  EXPECT_EQ(image.number(with_gradient(geometry::volume, {0.25f, 0, 0, 0, 0, 0}, 1)), 1);
  EXPECT_EQ(image.number(with_gradient(geometry::volume, {0, 0.25f, 0, 0, 0, 0}, 1)), 2);
  EXPECT_EQ(image.number(with_gradient(geometry::volume, {0, 0, 0.25f, 0, 0, 0}, 1)), 3);
}

TEST(texture_footprint, of_a_cube_lies_on_its_face) {
  sampled image = numbered_levels(true, 6);
  image.source.image.is_cube = true;
  fetch_point point = with_gradient(geometry::cube, {8, 0, 0, 0, 8, 0});
  point.at = {0, 0, 1};  // where the face is 2 long in x, and 1 long in s
  EXPECT_EQ(image.number(point), 2);
}

// The number of samples is visible as the level: log2(longest / samples).
TEST(texture_footprint, has_samples_along_its_longer_side) {
  sampled image = numbered_levels(true);
  const auto expect = [&](unsigned most, float longest, float shortest, float samples) {
    SCOPED_TRACE(testing::Message() << most << ", " << longest << " by " << shortest);
    image.source.descriptor.maxAnisotropy = most;
    const float level = rounded_level(longest / samples);
    EXPECT_NEAR(image.number(with_gradient(geometry::plane, {longest, 0, 0, shortest})), level,
                1e-5);
    EXPECT_NEAR(image.number(with_gradient(geometry::plane, {0, shortest, longest, 0})), level,
                1e-5);
    // Oblique sides: a triangle of 3, 4 and 5.
    const float x = longest * 0.6f, y = longest * 0.8f, u = shortest * 0.8f, v = shortest * 0.6f;
    if (samples == 1) return;
    EXPECT_NEAR(image.number(with_gradient(geometry::plane, {x, y, -u, v})), level, 1e-5);
    EXPECT_NEAR(image.number(with_gradient(geometry::plane, {-v, u, y, x})), level, 1e-5);
  };
  for (const unsigned most : {0u, 1u}) expect(most, 32, 1, 1);
  expect(2, 32, 1, 2);
  expect(7, 32, 1, 4);
  expect(16, 32, 2, 16);
  expect(16, 32, 1, 16);
  expect(64, 32, 1, 16);
  expect(8, 8, 3, 3);
  expect(8, 8, 8, 1);
  expect(8, 8, 3.995f, 2);  // nearly twice as long
  expect(8, 8, 3.98f, 3);
}

TEST(texture_footprint, mixes_elements_along_its_longer_side) {
  sampled image = floats(64, 64, 1);
  image.source.descriptor.maxAnisotropy = 4;
  const auto mixed = [&](std::array<float, 6> derivatives) {
    fetch_point point = with_gradient(geometry::plane, derivatives, 1);
    point.at = {20.5f, 20.5f, 0};
    return image.number(point);
  };
  const auto mean = [](float a, float b, float c) { return (a + b + c) / 3; };
  EXPECT_NEAR(mixed({12, 0, 0, 4}),
              mean(value_at(17, 20, 0), value_at(20, 20, 0), value_at(23, 20, 0)), 0.01);
  EXPECT_NEAR(mixed({4, 0, 0, 12}),
              mean(value_at(20, 17, 0), value_at(20, 20, 0), value_at(20, 23, 0)), 0.01);
  EXPECT_NEAR(mixed({0, 12, 4, 0}),
              mean(value_at(20, 17, 0), value_at(20, 20, 0), value_at(20, 23, 0)), 0.01);
  EXPECT_EQ(mixed({0, 0, 0, 0}), value_at(20, 20, 0));
}

TEST(texture_footprint, of_integers_and_volumes_has_one_sample) {
  sampled integers{{CU_AD_FORMAT_UNSIGNED_INT32, 1}};
  integers.add_level<std::uint32_t>(64, 64, 1, value_at);
  integers.source.descriptor.maxAnisotropy = 16;
  fetch_point point = with_gradient(geometry::plane, {16, 0, 0, 1}, 1);
  point.at = {20.5f, 30.5f, 0};
  EXPECT_EQ(integers.fetched(point)[0], static_cast<std::uint32_t>(value_at(20, 30, 0)));
  sampled volume = numbered_levels(true, 64);
  volume.source.descriptor.maxAnisotropy = 16;
  EXPECT_EQ(volume.number(with_gradient(geometry::volume, {16, 0, 0, 0, 1, 0})), 4);
}

sampled cubes(std::uint32_t layers) {
  sampled image = floats(4, 4, 6 * layers);
  image.source.image.is_cube = true;
  image.source.image.is_layered = layers > 1;
  return image;
}

// On the face of +z, s grows with x and t against y.
fetch_point on_front(float s, float t, std::uint32_t layer = 0) {
  fetch_point point = at(geometry::cube, {2 * s - 1, 1 - 2 * t, 1});
  point.layer = layer;
  return point;
}

TEST(texture_cubemap, reads_the_element_of_a_direction) {
  sampled image = cubes(2);
  for (const bool is_seamless : {false, true}) {
    image.source.descriptor.flags = is_seamless ? CU_TRSF_SEAMLESS_CUBEMAP : 0;
    for (std::uint32_t layer = 0; layer < 2; ++layer)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) {
          const fetch_point point = on_front((static_cast<float>(x) + 0.5f) / 4,
                                             (static_cast<float>(y) + 0.5f) / 4, layer);
          image.source.descriptor.filterMode = CU_TR_FILTER_MODE_POINT;
          EXPECT_EQ(image.number(point), value_at(x, y, 6 * layer + 4));
          image.source.descriptor.filterMode = CU_TR_FILTER_MODE_LINEAR;
          EXPECT_EQ(image.number(point), value_at(x, y, 6 * layer + 4));
        }
    EXPECT_EQ(image.number(on_front(0.375f, 0.375f, 5)), value_at(1, 1, 10));
    EXPECT_EQ(image.number(on_front(0.5f, 0.375f, 1)),
              (value_at(1, 1, 10) + value_at(2, 1, 10)) / 2);
  }
}

TEST(texture_cubemap, clamps_at_edges_that_have_seams) {
  sampled image = cubes(1);
  image.set_mode(CU_TR_ADDRESS_MODE_BORDER);
  image.source.descriptor.filterMode = CU_TR_FILTER_MODE_LINEAR;
  EXPECT_EQ(image.number(on_front(0.9999f, 0.375f)), value_at(3, 1, 4));
  EXPECT_EQ(image.number(on_front(0.375f, 0.0001f)), value_at(1, 0, 4));
}

// In the table of the guide, the face of +x lies on the right, and the face of +y lies above.
TEST(texture_cubemap, mixes_the_elements_of_adjacent_faces) {
  sampled image = cubes(2);
  image.source.descriptor.filterMode = CU_TR_FILTER_MODE_LINEAR;
  image.source.descriptor.flags = CU_TRSF_SEAMLESS_CUBEMAP;
  for (const std::uint32_t layer : {0u, 1u}) {
    const auto value = [=](int x, int y, int face) { return value_at(x, y, 6 * layer + face); };
    EXPECT_EQ(image.number(on_front(1, 0.375f, layer)), (value(3, 1, 4) + value(0, 1, 0)) / 2);
    EXPECT_EQ(image.number(on_front(0.375f, 0, layer)), (value(1, 0, 4) + value(1, 3, 2)) / 2);
    EXPECT_NEAR(image.number(on_front(0.99999f, 0.00001f, layer)),
                (value(3, 0, 4) + value(0, 0, 0) + value(3, 3, 2)) / 3, 0.01);
    // The face of -x lies on the left, and the face of -y lies below.
    EXPECT_NEAR(image.number(on_front(0.00001f, 0.99999f, layer)),
                (value(0, 3, 4) + value(3, 3, 1) + value(0, 0, 3)) / 3, 0.01);
  }
}

}  // namespace
}  // namespace halfwarp::emulator::texture
