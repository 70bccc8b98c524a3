// SPDX-License-Identifier: Apache-2.0
// Layouts without gaps, in any order of axes.
#include "views/layout/dense.hpp"

#include <algorithm>

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

axis_list stride_order(const layout& given) noexcept {
  axis_list result = c_order(given.ndim());
  if (!given.has_strides()) return result;
  const std::int64_t *const extents = given.extents(), *const strides = given.strides();
  const auto is_outer = [=](int a, int b) {
    const std::uint64_t distance_a = magnitude(strides[a]), distance_b = magnitude(strides[b]);
    if (distance_a != distance_b) return distance_a > distance_b;
    return extents[a] != extents[b] ? extents[a] > extents[b] : a < b;
  };
  // By insertion: no memory, and axes are few.
  for (int place = 1; place < result.count; ++place) {
    const auto last = result.begin() + place;
    std::rotate(std::upper_bound(result.begin(), last, *last, is_outer), last, last + 1);
  }
  return result;
}

void set_dense_strides(layout& given, const axis_list& order) {
  std::int64_t* const strides = given.strides();
  std::fill_n(strides, given.ndim(), 0);
  if (given.is_empty()) return;
  std::int64_t next = 1;
  for (int place = order.count; place-- > 0;) {
    strides[order[place]] = next;
    next = multiply(next, given.extents()[order[place]]);
  }
}

layout dense_like(const layout& given, const axis_list& order) {
  layout result{given.ndim(), given.itemsize(), true};
  std::copy_n(given.extents(), given.ndim(), result.extents());
  set_dense_strides(result, order);
  return result;
}

bool is_contiguous(const layout& given, const axis_list& order) noexcept {
  if (given.is_empty()) return true;
  const std::int64_t *const extents = given.extents(), *const strides = given.strides();
  if (!given.has_strides()) {
    // C's order: any other is the same as long as the axes that count keep theirs.
    int previous = -1;
    for (const int axis : order) {
      if (extents[axis] == 1) continue;
      if (axis < previous) return false;
      previous = axis;
    }
    return true;
  }
  std::int64_t last_extent = 1, last_stride = 1;
  for (int place = order.count; place-- > 0;) {
    const int axis = order[place];
    if (extents[axis] == 1) continue;
    if (!is_product(strides[axis], last_extent, last_stride)) return false;
    last_extent = extents[axis];
    last_stride = strides[axis];
  }
  return true;
}

}  // namespace halfwarp::views
