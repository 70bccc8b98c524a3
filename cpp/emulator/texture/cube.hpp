// SPDX-License-Identifier: Apache-2.0
// The faces of a cubemap, as the table of the CUDA programming guide orders them, and their edges.
#pragma once

#include <array>
#include <cstdint>

namespace halfwarp::emulator::texture {

// A face and coordinates on it between 0 and 1.
struct face_point {
  std::uint32_t face;
  float s, t;
};

face_point on_cube(const std::array<float, 3>& at) noexcept;
// Returns the change of s and t when `at` moves by `step`, on the face of `at`.
std::array<float, 2> step_on_face(const std::array<float, 3>& at,
                                  const std::array<float, 3>& step) noexcept;

struct face_element {
  std::uint32_t face;
  std::int64_t x, y;
};

// Maps an element one step beyond a single edge of a face to the adjacent element of the
// neighboring face. A face has `extent` by `extent` elements.
face_element across_edge(const face_element& element, std::int64_t extent) noexcept;

}  // namespace halfwarp::emulator::texture
