// SPDX-License-Identifier: Apache-2.0
// Plans copies between two layouts of the same shape, and executes them on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "views/layout/layout.hpp"

namespace halfwarp::views {

// Axes of more than one element, in order of decreasing destination stride. Adjacent axes are
// merged if a single stride serves them on both sides. Strides are in bytes.
struct copy_plan {
  using numbers = std::array<std::int64_t, layout::max_ndim>;
  int ndim = 0;
  int itemsize = 0;
  std::int64_t size = 0;  // of all elements in bytes
  numbers extents{}, to{}, from{};

  // Returns whether both sides are contiguous.
  [[nodiscard]] bool is_block() const noexcept;
  // Returns the strides of contiguous elements in the order of the plan.
  [[nodiscard]] numbers packed() const noexcept;
};

// Plans a copy between layouts of the same shape and element size.
[[nodiscard]] copy_plan plan_copy(const layout& to, const layout& from);

// Copies on the host, with strides that may differ from the plan's.
void copy_elements(const copy_plan& plan, void* to, const copy_plan::numbers& to_strides,
                   const void* from, const copy_plan::numbers& from_strides) noexcept;

}  // namespace halfwarp::views
