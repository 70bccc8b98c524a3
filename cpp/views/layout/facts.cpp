// SPDX-License-Identifier: Apache-2.0
// What can be said of a layout: its size, its range of memory, whether elements share places.
#include "views/layout/facts.hpp"

#include <stdexcept>
#include <string>

#include "views/layout/checked.hpp"
#include "views/layout/dense.hpp"

namespace halfwarp::views {

std::int64_t volume(const layout& given) {
  std::int64_t result = 1;
  for (int axis = 0; axis < given.ndim(); ++axis) {
    result = multiply(result, given.extents()[axis]);
  }
  return result;
}

offset_range offset_bounds(const layout& given) {
  if (given.is_empty()) return {};
  offset_range range{given.offset(), given.offset()};
  if (!given.has_strides()) {
    range.last = add(range.last, volume(given) - 1);
    return range;
  }
  for (int axis = 0; axis < given.ndim(); ++axis) {
    const std::int64_t reach = multiply(given.extents()[axis] - 1, given.strides()[axis]);
    std::int64_t& end = reach < 0 ? range.first : range.last;
    end = add(end, reach);
  }
  return range;
}

std::int64_t offset_in_bytes(const layout& given) {
  return multiply(given.offset(), given.itemsize());
}

std::int64_t required_size_in_bytes(const layout& given) {
  const offset_range range = offset_bounds(given);
  if (range.first < 0) {
    throw std::invalid_argument(
        "the size of the memory is not defined for a layout with elements "
        "before its beginning: the first one is at offset " +
        std::to_string(range.first));
  }
  return multiply(add(range.last, 1), given.itemsize());
}

bool is_contiguous_c(const layout& given) noexcept {
  return is_contiguous(given, c_order(given.ndim()));
}

bool is_contiguous_f(const layout& given) noexcept {
  return is_contiguous(given, fortran_order(given.ndim()));
}

bool is_contiguous_any(const layout& given) noexcept {
  return is_contiguous(given, stride_order(given));
}

bool is_dense(const layout& given) noexcept {
  return given.offset() == 0 && is_contiguous_any(given);
}

bool is_unique(const layout& given) noexcept {
  if (!given.has_strides() || given.is_empty()) return true;
  const axis_list order = stride_order(given);
  std::uint64_t reach = 0;  // of the axes so far
  for (int place = order.count; place-- > 0;) {
    const int axis = order[place];
    const auto steps = static_cast<std::uint64_t>(given.extents()[axis] - 1);
    if (steps == 0) continue;
    const std::uint64_t stride = magnitude(given.strides()[axis]);
    std::uint64_t length;
    if (stride <= reach) return false;
    if (__builtin_mul_overflow(stride, steps, &length)) return false;
    if (__builtin_add_overflow(reach, length, &reach)) return false;
  }
  return true;
}

}  // namespace halfwarp::views
