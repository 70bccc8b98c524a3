// SPDX-License-Identifier: Apache-2.0
// Layouts without gaps, in any axis order.
#pragma once

#include "views/layout/axes.hpp"
#include "views/layout/layout.hpp"

namespace halfwarp::views {

// The last axis of an order has adjacent elements.
[[nodiscard]] axis_list c_order(int ndim) noexcept;
[[nodiscard]] axis_list fortran_order(int ndim) noexcept;
// Sorts by decreasing absolute stride, then by decreasing extent, then by position.
[[nodiscard]] axis_list stride_order(const layout& input) noexcept;

// Sets the strides of a layout without gaps; all zero if it has no elements. Needs stride storage.
void set_dense_strides(layout& target, const axis_list& order);

// Returns a layout of the same shape and element size, without gaps and offset.
[[nodiscard]] layout dense_like(const layout& input, const axis_list& order);

// Returns whether elements are contiguous in that order. Ignores axes of one element.
[[nodiscard]] bool is_contiguous(const layout& input, const axis_list& order) noexcept;

}  // namespace halfwarp::views
