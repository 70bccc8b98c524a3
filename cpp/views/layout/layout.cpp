// SPDX-License-Identifier: Apache-2.0
// Layout of a strided array: extents, strides, element size, offset.
#include "views/layout/layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "views/layout/dense.hpp"

namespace halfwarp::views {

layout::layout(int ndim, int itemsize, bool has_strides)
    : ndim_{ndim}, itemsize_{itemsize}, has_strides_{has_strides} {
  if (ndim > max_ndim || ndim < 0) {
    throw std::invalid_argument("Unsupported number of dimensions: " + std::to_string(ndim) +
                                ". Max supported ndim is " + std::to_string(max_ndim));
  }
  if (ndim > inline_ndim) heap_values_ = std::make_unique<std::int64_t[]>(2 * ndim);
}

layout::layout(const layout& other)
    : ndim_{other.ndim_},
      itemsize_{other.itemsize_},
      has_strides_{other.has_strides_},
      offset_{other.offset_},
      inline_values_{other.inline_values_} {
  if (!other.heap_values_) return;
  heap_values_ = std::make_unique<std::int64_t[]>(2 * ndim_);
  std::copy_n(other.heap_values_.get(), 2 * ndim_, heap_values_.get());
}

layout& layout::operator=(const layout& other) {
  if (this != &other) *this = layout{other};
  return *this;
}

bool layout::is_empty() const noexcept {
  return std::find(extents(), extents() + ndim_, 0) != extents() + ndim_;
}

layout layout::with_strides() const {
  layout result{*this};
  if (has_strides_) return result;
  result.has_strides_ = true;
  set_dense_strides(result, c_order(ndim_));
  return result;
}

bool layout::operator==(const layout& other) const noexcept {
  return ndim_ == other.ndim_ && itemsize_ == other.itemsize_ && offset_ == other.offset_ &&
         has_strides_ == other.has_strides_ &&
         std::equal(extents(), extents() + (has_strides_ ? 2 : 1) * ndim_, other.extents());
}

void refuse_extent(std::size_t axis, std::int64_t extent) {
  throw std::invalid_argument("Extents must be non-negative; the extent of axis " +
                              std::to_string(axis) + " is " + std::to_string(extent));
}

void check(const layout& input) {
  if (input.itemsize() <= 0) throw std::invalid_argument("itemsize must be positive");
  for (int axis = 0; axis < input.ndim(); ++axis) {
    if (input.extents()[axis] < 0) refuse_extent(axis, input.extents()[axis]);
  }
}

void divide_strides(layout& target) {
  for (int axis = 0; axis < target.ndim(); ++axis) {
    std::int64_t& stride = target.strides()[axis];
    if (stride % target.itemsize() != 0) {
      throw std::invalid_argument("strides must be divisible by itemsize: the stride of axis " +
                                  std::to_string(axis) + " is " + std::to_string(stride) +
                                  " bytes, the itemsize " + std::to_string(target.itemsize()));
    }
    stride /= target.itemsize();
  }
}

}  // namespace halfwarp::views
