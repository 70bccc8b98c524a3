// SPDX-License-Identifier: Apache-2.0
// Lists of axes: their bounds, and orders of all axes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "views/layout/layout.hpp"

namespace halfwarp::views {

// Up to as many axes as a layout has.
struct axis_list {
  std::array<int, layout::max_ndim> axes{};
  int count = 0;

  void append(int axis) noexcept { axes[static_cast<std::size_t>(count++)] = axis; }
  [[nodiscard]] int operator[](int place) const noexcept {
    return axes[static_cast<std::size_t>(place)];
  }
  [[nodiscard]] auto begin() noexcept { return axes.begin(); }
  [[nodiscard]] auto end() noexcept { return axes.begin() + count; }
  [[nodiscard]] auto begin() const noexcept { return axes.begin(); }
  [[nodiscard]] auto end() const noexcept { return axes.begin() + count; }
};

// The axis that a number names, negative ones from the end. `what` begins the message.
[[nodiscard]] int axis_of(std::int64_t given, int ndim, const char* what);

// The axes that numbers name, none of them twice.
[[nodiscard]] axis_list distinct_axes(std::span<const std::int64_t> given, int ndim,
                                      const char* what);

// "3D tensor"
[[nodiscard]] std::string tensor_of(int ndim);

}  // namespace halfwarp::views
