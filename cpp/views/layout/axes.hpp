// SPDX-License-Identifier: Apache-2.0
// Lists of axes, and conversion of axis numbers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "views/layout/layout.hpp"

namespace halfwarp::views {

// A list of at most layout::max_ndim axes.
struct axis_list {
  std::array<int, layout::max_ndim> axes{};
  int count = 0;

  void append(int axis) noexcept { axes[static_cast<std::size_t>(count++)] = axis; }
  [[nodiscard]] int operator[](int index) const noexcept {
    return axes[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] auto begin() noexcept { return axes.begin(); }
  [[nodiscard]] auto end() noexcept { return axes.begin() + count; }
  [[nodiscard]] auto begin() const noexcept { return axes.begin(); }
  [[nodiscard]] auto end() const noexcept { return axes.begin() + count; }
};

// Converts an axis number; negative ones count from the end. `subject` starts the error message.
[[nodiscard]] int axis_of(std::int64_t number, int ndim, const char* subject);

// Converts distinct axis numbers.
[[nodiscard]] axis_list distinct_axes(std::span<const std::int64_t> numbers, int ndim,
                                      const char* subject);

// Returns text such as "3D tensor".
[[nodiscard]] std::string tensor_of(int ndim);

}  // namespace halfwarp::views
