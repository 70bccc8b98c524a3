// SPDX-License-Identifier: Apache-2.0
// How elements go from one layout to another of the same shape, and the copy on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "views/layout/layout.hpp"

namespace halfwarp::views {

// Axes of more than one element, that of the destination's largest stride first; neighbours that
// one stride serves on both sides are one axis. Strides are in bytes.
struct copy_plan {
  using numbers = std::array<std::int64_t, layout::max_ndim>;
  int ndim = 0;
  int itemsize = 0;
  std::int64_t size = 0;  // of all elements in bytes
  numbers extents{}, to{}, from{};

  // Whether both sides are one block of memory.
  [[nodiscard]] bool is_block() const noexcept;
  // The strides of elements that lie one after the other in the order of the plan.
  [[nodiscard]] numbers packed() const noexcept;
};

// Of layouts of one shape and element size.
[[nodiscard]] copy_plan plan_copy(const layout& to, const layout& from);

// Copies on the host, by strides that may be others than the plan's.
void copy_elements(const copy_plan& plan, void* to, const copy_plan::numbers& to_strides,
                   const void* from, const copy_plan::numbers& from_strides) noexcept;

}  // namespace halfwarp::views
