// SPDX-License-Identifier: Apache-2.0
// Layouts without gaps, in any axis order.
#include "views/layout/dense.hpp"

#include <algorithm>
#include <tuple>

#include "views/layout/checked.hpp"

namespace halfwarp::views {

axis_list c_order(int ndim) noexcept {
  axis_list result;
  for (int axis = 0; axis < ndim; ++axis) result.append(axis);
  return result;
}

axis_list fortran_order(int ndim) noexcept {
  axis_list result;
  for (int axis = ndim; axis-- > 0;) result.append(axis);
  return result;
}

axis_list stride_order(const layout& input) noexcept {
  axis_list result = c_order(input.ndim());
  if (!input.has_strides()) return result;
  const std::int64_t *const extents = input.extents(), *const strides = input.strides();
  const auto is_outer = [=](int a, int b) {
    const std::uint64_t distance_a = magnitude(strides[a]), distance_b = magnitude(strides[b]);
    return std::tuple{distance_b, extents[b], a} < std::tuple{distance_a, extents[a], b};
  };
  // Insertion sort: it allocates no memory, and there are few axes.
  for (int position = 1; position < result.count; ++position) {
    const auto last = result.begin() + position;
    std::rotate(std::upper_bound(result.begin(), last, *last, is_outer), last, last + 1);
  }
  return result;
}

void set_dense_strides(layout& target, const axis_list& order) {
  std::int64_t* const strides = target.strides();
  std::fill_n(strides, target.ndim(), 0);
  if (target.is_empty()) return;
  std::int64_t next = 1;
  for (int position = order.count; position-- > 0;) {
    strides[order[position]] = next;
    next = multiply(next, target.extents()[order[position]]);
  }
}

layout dense_like(const layout& input, const axis_list& order) {
  layout result{input.ndim(), input.itemsize(), true};
  std::copy_n(input.extents(), input.ndim(), result.extents());
  set_dense_strides(result, order);
  return result;
}

bool is_contiguous(const layout& input, const axis_list& order) noexcept {
  if (input.is_empty()) return true;
  const std::int64_t *const extents = input.extents(), *const strides = input.strides();
  if (!input.has_strides()) {
    // C order: another order is equivalent if axes of more than one element have the same order.
    int previous = -1;
    for (const int axis : order) {
      if (extents[axis] == 1) continue;
      if (axis < previous) return false;
      previous = axis;
    }
    return true;
  }
  std::int64_t last_extent = 1, last_stride = 1;
  for (int position = order.count; position-- > 0;) {
    const int axis = order[position];
    if (extents[axis] == 1) continue;
    if (!is_product(strides[axis], last_extent, last_stride)) return false;
    last_extent = extents[axis];
    last_stride = strides[axis];
  }
  return true;
}

}  // namespace halfwarp::views
