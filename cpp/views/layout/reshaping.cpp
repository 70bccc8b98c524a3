// SPDX-License-Identifier: Apache-2.0
// Reshapes a layout over the same elements in the same order, and merges axes.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "views/layout/axes.hpp"
#include "views/layout/changes.hpp"
#include "views/layout/checked.hpp"
#include "views/layout/facts.hpp"

namespace halfwarp::views {
namespace {

// The product of all extents except -1, and the axis whose extent is -1.
struct shape_info {
  std::int64_t volume = 1;
  std::optional<int> open_axis;
};

shape_info inspect_shape(std::span<const std::int64_t> shape) {
  shape_info info;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < -1) refuse_extent(axis, shape[axis]);
    if (shape[axis] != -1) {
      info.volume = multiply(info.volume, shape[axis]);
    } else if (info.open_axis) {
      throw std::invalid_argument("There can be at most one -1 extent in a shape");
    } else {
      info.open_axis = static_cast<int>(axis);
    }
  }
  return info;
}

// Returns a layout of the shape with the open extent computed and strides not set.
layout with_shape(const layout& input, std::span<const std::int64_t> shape) {
  layout result{static_cast<int>(shape.size()), input.itemsize(), true};
  result.set_offset(input.offset());
  std::copy(shape.begin(), shape.end(), result.extents());
  const shape_info info = inspect_shape(shape);
  const std::int64_t whole = volume(input);
  if (!info.open_axis) {
    if (whole == info.volume) return result;
    throw std::invalid_argument("The original volume " + std::to_string(whole) +
                                " and the new volume " + std::to_string(info.volume) +
                                " must be equal.");
  }
  if (info.volume == 0) {
    throw std::invalid_argument("The -1 extent is ambiguous when the specified sub-volume is 0");
  }
  if (whole % info.volume != 0) {
    throw std::invalid_argument("The original volume " + std::to_string(whole) +
                                " must be divisible by the specified sub-volume " +
                                std::to_string(info.volume) + ".");
  }
  result.extents()[*info.open_axis] = whole / info.volume;
  return result;
}

}  // namespace

layout reshaped(const layout& input, std::span<const std::int64_t> shape) {
  layout result = with_shape(input, shape);
  if (result.is_empty()) return result;
  const layout source = flattened(squeezed(input), ~axes_mask{0});
  const std::int64_t* const extents = source.extents();
  // From the innermost axis outward: divides the elements of a source axis among axes of the
  // result.
  int from = source.ndim() - 1;
  std::int64_t remaining = extents[from], stride = source.strides()[from];
  for (int axis = result.ndim(); axis-- > 0;) {
    const std::int64_t extent = result.extents()[axis];
    if (extent != 1 && remaining == 1) {
      --from;
      remaining = extents[from];
      stride = source.strides()[from];
    }
    if (remaining % extent != 0) {
      throw std::invalid_argument("Layout strides are incompatible with the new shape");
    }
    result.strides()[axis] = stride;
    stride = multiply(stride, extent);
    remaining /= extent;
  }
  return result;
}

layout permuted(const layout& input, std::span<const std::int64_t> axes) {
  const layout source = input.with_strides();
  if (axes.size() != static_cast<std::size_t>(source.ndim())) {
    throw std::invalid_argument(
        "Permutation must have the same length as the number of "
        "dimensions, got " +
        std::to_string(axes.size()) + " for a " + tensor_of(source.ndim()));
  }
  const axis_list order = distinct_axes(axes, source.ndim(), "Invalid permutation");
  layout result = source;
  for (int position = 0; position < order.count; ++position) {
    result.extents()[position] = source.extents()[order[position]];
    result.strides()[position] = source.strides()[order[position]];
  }
  return result;
}

axes_mask flattened_axis_mask(const layout& input) {
  const layout source = input.with_strides();
  const std::int64_t* const strides = source.strides();
  axes_mask mask = 0;
  for (int axis = 1; axis < source.ndim(); ++axis) {
    const bool is_mergeable = is_product(strides[axis - 1], strides[axis], source.extents()[axis]);
    if (is_mergeable) mask |= axes_mask{1} << axis;
  }
  return mask;
}

axes_mask mask_of_range(int ndim, std::int64_t start, std::int64_t end) {
  if (ndim == 0 && start == 0 && end == -1) return 0;
  const int first = axis_of(start, ndim, "Invalid axis");
  const int last = axis_of(end, ndim, "Invalid axis");
  axes_mask mask = 0;
  for (int axis = first + 1; axis <= last; ++axis) mask |= axes_mask{1} << axis;
  return mask;
}

layout flattened(const layout& input, axes_mask mask) {
  const layout source = input.with_strides();
  mask &= flattened_axis_mask(source);
  const int ndim = source.ndim();
  if (ndim == 0) {
    layout result{1, source.itemsize(), true};
    result.set_offset(source.offset());
    result.extents()[0] = result.strides()[0] = 1;
    return result;
  }
  layout result{ndim - __builtin_popcountll(mask), source.itemsize(), true};
  result.set_offset(source.offset());
  int to = -1;
  for (int axis = 0; axis < ndim; ++axis) {
    const bool is_merged = mask >> axis & 1;
    const std::int64_t extent = source.extents()[axis];
    if (!is_merged) ++to;
    result.extents()[to] = is_merged ? multiply(result.extents()[to], extent) : extent;
    result.strides()[to] = source.strides()[axis];
  }
  return result;
}

}  // namespace halfwarp::views
