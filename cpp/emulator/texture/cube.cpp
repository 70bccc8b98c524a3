// SPDX-License-Identifier: Apache-2.0
// Directions become points of faces, and back.
#include "emulator/texture/cube.hpp"

#include <algorithm>
#include <cmath>

namespace halfwarp::emulator::texture {
namespace {

struct axis {
  std::size_t index;
  float sign;
};

// What points out of a face, and along its s and its t.
struct face_axes {
  axis out, s, t;
};
constexpr face_axes faces[] = {
    {{0, 1}, {2, -1}, {1, -1}}, {{0, -1}, {2, 1}, {1, -1}}, {{1, 1}, {0, 1}, {2, 1}},
    {{1, -1}, {0, 1}, {2, -1}}, {{2, 1}, {0, 1}, {1, -1}},  {{2, -1}, {0, -1}, {1, -1}},
};

float along(const std::array<float, 3>& of, axis which) noexcept {
  return which.sign * of[which.index];
}

// Where two are as long, a device takes the later axis.
std::uint32_t face_of(const std::array<float, 3>& at) noexcept {
  const float x = std::fabs(at[0]), y = std::fabs(at[1]), z = std::fabs(at[2]);
  const std::uint32_t longest = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
  return 2 * longest + (at[longest] >= 0 ? 0 : 1);
}

}  // namespace

face_point on_cube(const std::array<float, 3>& at) noexcept {
  const std::uint32_t face = face_of(at);
  const auto& [out, s, t] = faces[face];
  const float length = along(at, out);
  if (length == 0) return {0, 0.5f, 0.5f};
  return {face, (along(at, s) / length + 1) / 2, (along(at, t) / length + 1) / 2};
}

std::array<float, 2> step_on_face(const std::array<float, 3>& at,
                                  const std::array<float, 3>& step) noexcept {
  const auto& [out, s, t] = faces[face_of(at)];
  std::array<float, 3> moved{};
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = at[i] + step[i];
  const axis over = faces[face_of(moved)].out;
  const float length = along(at, out), longer = along(moved, over);
  if (length == 0 || longer == 0) return {};
  // Behind an edge, a device goes on as if the next face lay in the plane of this one.
  const auto crossed = [&](axis which) {
    float place = along(moved, which) / longer;
    if (which.index == over.index) place *= 2 - along(moved, out) / longer;
    return (place - along(at, which) / length) / 2;
  };
  return {crossed(s), crossed(t)};
}

face_element across_edge(const face_element& beside, std::int64_t count) noexcept {
  const auto place = [count](std::int64_t index) {
    return static_cast<float>(2 * index + 1) / static_cast<float>(count) - 1;
  };
  const auto& [out, s, t] = faces[beside.face];
  std::array<float, 3> direction{};
  direction[out.index] = out.sign;
  direction[s.index] = s.sign * place(beside.x);
  direction[t.index] = t.sign * place(beside.y);
  const face_point found = on_cube(direction);
  const auto index = [count](float at) {
    const auto place = static_cast<std::int64_t>(std::floor(at * static_cast<float>(count)));
    return std::clamp<std::int64_t>(place, 0, count - 1);
  };
  return {found.face, index(found.s), index(found.t)};
}

}  // namespace halfwarp::emulator::texture
