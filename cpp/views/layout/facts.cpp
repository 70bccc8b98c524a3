// SPDX-License-Identifier: Apache-2.0
// Properties of a layout: size, range of offsets, overlap of elements.
#include "views/layout/facts.hpp"

#include <stdexcept>
#include <string>

#include "views/layout/checked.hpp"
#include "views/layout/dense.hpp"

namespace halfwarp::views {

std::int64_t volume(const layout& input) {
  if (input.is_empty()) return 0;  // even if the other extents overflow
  std::int64_t result = 1;
  for (int axis = 0; axis < input.ndim(); ++axis) {
    result = multiply(result, input.extents()[axis]);
  }
  return result;
}

offset_range offset_bounds(const layout& input) {
  if (input.is_empty()) return {};
  offset_range range{input.offset(), input.offset()};
  if (!input.has_strides()) {
    range.last = add(range.last, volume(input) - 1);
    return range;
  }
  for (int axis = 0; axis < input.ndim(); ++axis) {
    const std::int64_t distance = multiply(input.extents()[axis] - 1, input.strides()[axis]);
    std::int64_t& end = distance < 0 ? range.first : range.last;
    end = add(end, distance);
  }
  return range;
}

std::int64_t offset_in_bytes(const layout& input) {
  return multiply(input.offset(), input.itemsize());
}

std::int64_t required_size_in_bytes(const layout& input) {
  const offset_range range = offset_bounds(input);
  if (range.first < 0) {
    throw std::invalid_argument(
        "the size of the memory is not defined for a layout with elements "
        "before its beginning: the first one is at offset " +
        std::to_string(range.first) + "; a negative stride needs a slice of a larger view");
  }
  return multiply(add(range.last, 1), input.itemsize());
}

void check_reach(const layout& input, std::uint64_t address) {
  const offset_range range = offset_bounds(input);
  if (range.last < range.first) return;  // no elements
  const std::int64_t before = multiply(range.first, input.itemsize());
  const std::int64_t after = multiply(add(range.last, 1), input.itemsize());
  std::uint64_t end;
  const bool is_too_low = before < 0 && magnitude(before) > address;
  // If `after` is not positive, the layout ends at or below `address` and cannot overflow.
  const bool is_too_high =
      after > 0 && __builtin_add_overflow(address, static_cast<std::uint64_t>(after), &end);
  if (is_too_low || is_too_high) throw std::overflow_error("the layout leaves the address space");
}

bool is_contiguous_c(const layout& input) noexcept {
  return is_contiguous(input, c_order(input.ndim()));
}

bool is_contiguous_f(const layout& input) noexcept {
  return is_contiguous(input, fortran_order(input.ndim()));
}

bool is_contiguous_any(const layout& input) noexcept {
  return is_contiguous(input, stride_order(input));
}

bool is_dense(const layout& input) noexcept {
  return input.offset() == 0 && is_contiguous_any(input);
}

bool is_unique(const layout& input) noexcept {
  if (!input.has_strides() || input.is_empty()) return true;
  const axis_list order = stride_order(input);
  std::uint64_t span = 0;  // offset range of the axes processed so far
  for (int position = order.count; position-- > 0;) {
    const int axis = order[position];
    const auto steps = static_cast<std::uint64_t>(input.extents()[axis] - 1);
    if (steps == 0) continue;
    const std::uint64_t stride = magnitude(input.strides()[axis]);
    std::uint64_t length;
    if (stride <= span) return false;
    if (__builtin_mul_overflow(stride, steps, &length)) return false;
    if (__builtin_add_overflow(span, length, &span)) return false;
  }
  return true;
}

}  // namespace halfwarp::views
