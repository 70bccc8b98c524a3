// SPDX-License-Identifier: Apache-2.0
// Subscripts: slices a layout along each axis.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "views/layout/changes.hpp"
#include "views/layout/checked.hpp"

namespace halfwarp::views {
namespace {

// The result under construction, and the next axis of the source.
struct slicing {
  const layout& source;
  layout result;
  int from = 0, to = 0;
  bool is_cut_empty = false;

  void append(std::int64_t extent, std::int64_t stride) {
    result.extents()[to] = extent;
    result.strides()[to] = stride;
    ++to;
  }

  void apply_index(std::int64_t index) {
    const std::int64_t extent = source.extents()[from];
    if (index < -extent || index >= extent) {
      throw std::invalid_argument("Invalid index: " + std::to_string(index) +
                                  " out of range for axis " + std::to_string(from) +
                                  " with extent " + std::to_string(extent));
    }
    advance(index < 0 ? index + extent : index);
    ++from;
  }

  void advance(std::int64_t steps) {
    result.set_offset(add(result.offset(), multiply(steps, source.strides()[from])));
  }

  void apply_range(const subscript& entry) {
    const std::int64_t stride = source.strides()[from];
    if (entry.count > 0) {
      advance(entry.start);
      // A stride is irrelevant for a single element, so overflow is not an error.
      std::int64_t stepped;
      const bool is_too_large = __builtin_mul_overflow(stride, entry.step, &stepped);
      if (is_too_large && entry.count > 1) throw_too_large();
      append(entry.count, is_too_large ? stride : stepped);
    } else {
      is_cut_empty = true;
      append(0, 0);
    }
    ++from;
  }
};

}  // namespace

layout sliced(const layout& input, std::span<const subscript> entries) {
  const layout source = input.with_strides();
  const auto count = [&](subscript::kind_type kind) {
    return static_cast<int>(std::count_if(entries.begin(), entries.end(),
                                          [=](const subscript& e) { return e.kind == kind; }));
  };
  const int ndim = source.ndim() - count(subscript::index) + count(subscript::new_axis);
  slicing state{source, layout{ndim, source.itemsize(), true}};
  state.result.set_offset(source.offset());
  for (const subscript& entry : entries) {
    if (entry.kind == subscript::index) {
      state.apply_index(entry.start);
    } else if (entry.kind == subscript::range) {
      state.apply_range(entry);
    } else {
      state.append(1, 0);
    }
  }
  while (state.from < source.ndim()) {
    state.append(source.extents()[state.from], source.strides()[state.from]);
    ++state.from;
  }
  if (state.is_cut_empty) std::fill_n(state.result.strides(), ndim, 0);
  return std::move(state.result);
}

}  // namespace halfwarp::views
