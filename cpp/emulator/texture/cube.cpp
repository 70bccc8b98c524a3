// SPDX-License-Identifier: Apache-2.0
// Converts between directions and points of cube faces.
#include "emulator/texture/cube.hpp"

#include <cmath>

namespace halfwarp::emulator::texture {
namespace {

struct axis {
  std::size_t index;
  float sign;
};

// The axes of a face: outward, along s and along t.
struct face_axes {
  axis out, s, t;
};
constexpr face_axes faces[] = {
    {{0, 1}, {2, -1}, {1, -1}}, {{0, -1}, {2, 1}, {1, -1}}, {{1, 1}, {0, 1}, {2, 1}},
    {{1, -1}, {0, 1}, {2, -1}}, {{2, 1}, {0, 1}, {1, -1}},  {{2, -1}, {0, -1}, {1, -1}},
};

float along(const std::array<float, 3>& vector_components, axis direction) noexcept {
  return direction.sign * vector_components[direction.index];
}

// Returns the face of a direction. If components are equal, a device selects the later axis.
std::uint32_t face_of(const std::array<float, 3>& direction) noexcept {
  const float x = std::fabs(direction[0]), y = std::fabs(direction[1]), z = std::fabs(direction[2]);
  const std::uint32_t longest = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
  return 2 * longest + (direction[longest] >= 0 ? 0 : 1);
}

}  // namespace

face_point on_cube(const std::array<float, 3>& direction) noexcept {
  const std::uint32_t face = face_of(direction);
  const auto& [out, s, t] = faces[face];
  const float length = along(direction, out);
  if (length == 0) return {0, 0.5f, 0.5f};
  return {face, (along(direction, s) / length + 1) / 2, (along(direction, t) / length + 1) / 2};
}

std::array<float, 2> step_on_face(const std::array<float, 3>& at,
                                  const std::array<float, 3>& step) noexcept {
  const auto& [out, s, t] = faces[face_of(at)];
  std::array<float, 3> moved{};
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = at[i] + step[i];
  const axis over = faces[face_of(moved)].out;
  const float length = along(at, out), longer = along(moved, over);
  if (length == 0 || longer == 0) return {};
  // Beyond an edge, a device continues as if the next face lay in the plane of this face.
  const auto crossed = [&](axis component) {
    float coordinate = along(moved, component) / longer;
    if (component.index == over.index) coordinate *= 2 - along(moved, out) / longer;
    return (coordinate - along(at, component) / length) / 2;
  };
  return {crossed(s), crossed(t)};
}

face_element across_edge(const face_element& element, std::int64_t extent) noexcept {
  const auto place = [extent](std::int64_t index) {
    return static_cast<float>(2 * index + 1) / static_cast<float>(extent) - 1;
  };
  const auto& [out, s, t] = faces[element.face];
  std::array<float, 3> direction{};
  direction[out.index] = out.sign;
  direction[s.index] = s.sign * place(element.x);
  direction[t.index] = t.sign * place(element.y);
  const face_point point = on_cube(direction);
  const auto index = [extent](float at) {
    return static_cast<std::int64_t>(at * static_cast<float>(extent));
  };
  return {point.face, index(point.s), index(point.t)};
}

}  // namespace halfwarp::emulator::texture
