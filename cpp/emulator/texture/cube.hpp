// SPDX-License-Identifier: Apache-2.0
// Faces of a cubemap: the table of the CUDA programming guide, and what lies beyond their edges.
#pragma once

#include <array>
#include <cstdint>

namespace halfwarp::emulator::texture {

// A face, and coordinates on it between 0 and 1.
struct face_point {
  std::uint32_t face;
  float s, t;
};

face_point on_cube(const std::array<float, 3>& at) noexcept;
// How far s and t move when `at` moves by `step`, on the face that `at` is on.
std::array<float, 2> step_on_face(const std::array<float, 3>& at,
                                  const std::array<float, 3>& step) noexcept;

struct face_element {
  std::uint32_t face;
  std::int64_t x, y;
};

// Of an element that lies one beside a face of `count` by `count` elements, beyond one edge only,
// the one of the neighbouring face that is there.
face_element across_edge(const face_element& beside, std::int64_t count) noexcept;

}  // namespace halfwarp::emulator::texture
