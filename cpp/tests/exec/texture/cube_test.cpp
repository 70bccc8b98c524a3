// SPDX-License-Identifier: Apache-2.0
// Tests faces of a cubemap by the table of the CUDA programming guide, and edges by geometry.
#include "emulator/texture/cube.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace halfwarp::emulator::texture {
namespace {

using vector = std::array<float, 3>;

// The direction of a point of a face: s and t are between -1 and 1 times m.
vector direction_of(std::uint32_t face, float m, float s, float t) {
  const vector directions[] = {{m, -t, -s}, {-m, -t, s}, {s, m, t},
                               {s, -m, -t}, {s, -t, m},  {-s, -t, -m}};
  return directions[face];
}

TEST(texture_cube, finds_points_of_faces) {
  for (std::uint32_t face = 0; face < 6; ++face) {
    for (const float s : {-0.75f, -0.25f, 0.0f, 0.5f}) {
      for (const float t : {-0.5f, 0.0f, 0.25f, 0.75f}) {
        const face_point point = on_cube(direction_of(face, 2, 2 * s, 2 * t));
        EXPECT_EQ(point.face, face);
        EXPECT_EQ(point.s, (s + 1) / 2);
        EXPECT_EQ(point.t, (t + 1) / 2);
      }
    }
  }
}

TEST(texture_cube, selects_the_later_of_equal_axes) {
  EXPECT_EQ(on_cube({1, 1, 0}).face, 2u);
  EXPECT_EQ(on_cube({1, -1, 0.5f}).face, 3u);
  EXPECT_EQ(on_cube({0, 1, 1}).face, 4u);
  EXPECT_EQ(on_cube({-1, 0, -1}).face, 5u);
  EXPECT_EQ(on_cube({1, 1, -1}).face, 5u);
  EXPECT_EQ(on_cube({-1, 0.5f, 0.5f}).face, 1u);
}

TEST(texture_cube, has_the_center_of_the_first_face_for_no_direction) {
  const face_point point = on_cube({0, 0, 0});
  EXPECT_EQ(point.face, 0u);
  EXPECT_EQ(point.s, 0.5f);
  EXPECT_EQ(point.t, 0.5f);
}

TEST(texture_cube, measures_steps_on_one_face) {
  for (std::uint32_t face = 0; face < 6; ++face) {
    const vector at = direction_of(face, 2, 0.5f, -1), to = direction_of(face, 4, 3, 1);
    const auto [s, t] = step_on_face(at, {to[0] - at[0], to[1] - at[1], to[2] - at[2]});
    EXPECT_EQ(s, (0.75f - 0.25f) / 2) << face;
    EXPECT_EQ(t, (0.25f - -0.5f) / 2) << face;
  }
}

// The point beyond is at 0.25 from the edge on the next face, whose coordinates go to 1.
TEST(texture_cube, unfolds_the_next_face) {
  for (std::uint32_t face = 0; face < 6; ++face) {
    for (const float sign : {-1.0f, 1.0f}) {
      const vector at = direction_of(face, 2, 0, 0.5f);
      const vector to_s = direction_of(face, 1.5f, sign * 2, 1);
      const auto [s, t] = step_on_face(at, {to_s[0] - at[0], to_s[1] - at[1], to_s[2] - at[2]});
      EXPECT_EQ(s, sign * 1.25f / 2) << face;
      EXPECT_EQ(t, (0.5f - 0.25f) / 2) << face;
      const vector to_t = direction_of(face, 1.5f, 1, sign * 2);
      const auto [u, v] = step_on_face(at, {to_t[0] - at[0], to_t[1] - at[1], to_t[2] - at[2]});
      EXPECT_EQ(u, 0.5f / 2) << face;
      EXPECT_EQ(v, (sign * 1.25f - 0.25f) / 2) << face;
    }
  }
}

TEST(texture_cube, has_no_step_from_or_to_the_center) {
  EXPECT_EQ(step_on_face({0, 0, 0}, {1, 0.5f, 0}), (std::array<float, 2>{}));
  EXPECT_EQ(step_on_face({1, 0.5f, 0}, {-1, -0.5f, 0}), (std::array<float, 2>{}));
}

// The neighbor is the element of another face that is the nearest to the middle of the edge.
face_element nearest(const face_element& beyond, std::int64_t extent) {
  const auto coordinate = [extent](std::int64_t index) {
    return (2 * static_cast<float>(index) + 1) / static_cast<float>(extent) - 1;
  };
  const auto on_edge = [&](std::int64_t index) {
    return std::fmin(1, std::fmax(-1, coordinate(index)));
  };
  const vector edge = direction_of(beyond.face, 1, on_edge(beyond.x), on_edge(beyond.y));
  face_element best{};
  float shortest = std::numeric_limits<float>::infinity();
  for (std::uint32_t face = 0; face < 6; ++face) {
    for (std::int64_t i = 0; face != beyond.face && i < extent * extent; ++i) {
      const face_element each{face, i % extent, i / extent};
      const vector center = direction_of(face, 1, coordinate(each.x), coordinate(each.y));
      const float distance =
          std::hypot(center[0] - edge[0], center[1] - edge[1], center[2] - edge[2]);
      if (distance >= shortest) continue;
      shortest = distance;
      best = each;
    }
  }
  return best;
}

TEST(texture_cube, continues_beyond_edges) {
  for (const std::int64_t extent : {1, 2, 3, 8}) {
    for (std::uint32_t face = 0; face < 6; ++face) {
      for (std::int64_t i = 0; i < extent; ++i) {
        for (const face_element& beyond :
             {face_element{face, -1, i}, {face, extent, i}, {face, i, -1}, {face, i, extent}}) {
          const face_element point = across_edge(beyond, extent);
          const face_element expected = nearest(beyond, extent);
          SCOPED_TRACE(testing::Message() << face << ' ' << beyond.x << ' ' << beyond.y);
          EXPECT_EQ(point.face, expected.face);
          EXPECT_EQ(point.x, expected.x);
          EXPECT_EQ(point.y, expected.y);
        }
      }
    }
  }
}

}  // namespace
}  // namespace halfwarp::emulator::texture
