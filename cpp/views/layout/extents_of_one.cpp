// SPDX-License-Identifier: Apache-2.0
// Axes of one element: squeezed, inserted, broadcast.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "views/layout/axes.hpp"
#include "views/layout/changes.hpp"
#include "views/layout/checked.hpp"

namespace halfwarp::views {

layout squeezed(const layout& input) {
  const layout source = input.with_strides();
  const std::int64_t* const extents = source.extents();
  const bool is_empty = source.is_empty();
  const auto ones = std::count(extents, extents + source.ndim(), 1);
  const int ndim = is_empty ? 1 : source.ndim() - static_cast<int>(ones);
  layout result{ndim, source.itemsize(), true};
  result.set_offset(source.offset());
  if (is_empty) return result;
  int to = 0;
  for (int axis = 0; axis < source.ndim(); ++axis) {
    if (extents[axis] == 1) continue;
    result.extents()[to] = extents[axis];
    result.strides()[to] = source.strides()[axis];
    ++to;
  }
  return result;
}

layout unsqueezed(const layout& input, std::span<const std::int64_t> axes) {
  const layout source = input.with_strides();
  const auto ndim = static_cast<std::size_t>(source.ndim()) + axes.size();
  layout result{ndim > layout::max_ndim ? layout::max_ndim + 1 : static_cast<int>(ndim),
                source.itemsize(), true};
  result.set_offset(source.offset());
  const axis_list added = distinct_axes(axes, result.ndim(), "Invalid axis");
  int from = source.ndim() - 1;
  std::int64_t next = from < 0 ? 1 : source.strides()[from];  // stride of an added axis
  for (int axis = result.ndim(); axis-- > 0;) {
    const bool is_added = std::find(added.begin(), added.end(), axis) != added.end();
    result.extents()[axis] = is_added ? 1 : source.extents()[from];
    result.strides()[axis] = is_added ? next : source.strides()[from];
    if (is_added) continue;
    const bool is_used = std::any_of(added.begin(), added.end(), [=](int a) { return a < axis; });
    if (is_used) next = multiply(source.strides()[from], source.extents()[from]);
    --from;
  }
  return result;
}

layout broadcast_to(const layout& input, std::span<const std::int64_t> shape) {
  const layout source = input.with_strides();
  const auto ndim = static_cast<int>(std::min<std::size_t>(shape.size(), layout::max_ndim + 1));
  layout result{ndim, source.itemsize(), true};
  result.set_offset(source.offset());
  std::copy(shape.begin(), shape.end(), result.extents());
  check(result);
  const int added = result.ndim() - source.ndim();
  if (added < 0) {
    throw std::invalid_argument("a " + tensor_of(source.ndim()) + " cannot be broadcast to a " +
                                tensor_of(result.ndim()));
  }
  for (int axis = added; axis < result.ndim(); ++axis) {
    const std::int64_t from = source.extents()[axis - added], to = result.extents()[axis];
    if (from != to && from != 1) {
      throw std::invalid_argument("an extent of " + std::to_string(from) +
                                  " cannot be broadcast to " + std::to_string(to) + " (axis " +
                                  std::to_string(axis) + " of the result)");
    }
    result.strides()[axis] = from == to ? source.strides()[axis - added] : 0;
  }
  return result;
}

}  // namespace halfwarp::views
