// SPDX-License-Identifier: Apache-2.0
// Layouts without gaps, in any order of axes.
#pragma once

#include "views/layout/axes.hpp"
#include "views/layout/layout.hpp"

namespace halfwarp::views {

// The last axis of an order is the one whose elements are neighbours.
[[nodiscard]] axis_list c_order(int ndim) noexcept;
[[nodiscard]] axis_list fortran_order(int ndim) noexcept;
// By decreasing distance of neighbours, then by larger extent, then by position.
[[nodiscard]] axis_list stride_order(const layout& given) noexcept;

// Gives a layout with room for strides those without gaps; all zero where it has no element.
void set_dense_strides(layout& given, const axis_list& order);

// The same shape and element size without gaps and offset.
[[nodiscard]] layout dense_like(const layout& given, const axis_list& order);

// Whether neighbours in that order lie side by side. Extents of 1 say nothing.
[[nodiscard]] bool is_contiguous(const layout& given, const axis_list& order) noexcept;

}  // namespace halfwarp::views
