// SPDX-License-Identifier: Apache-2.0
// Where the elements of a strided array lie: extents, strides, the size of an element, an offset.
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
  if (ndim > few_ndim) many_ = std::make_unique<std::int64_t[]>(2 * ndim);
}

layout::layout(const layout& other)
    : ndim_{other.ndim_},
      itemsize_{other.itemsize_},
      has_strides_{other.has_strides_},
      offset_{other.offset_},
      few_{other.few_} {
  if (!other.many_) return;
  many_ = std::make_unique<std::int64_t[]>(2 * ndim_);
  std::copy_n(other.many_.get(), 2 * ndim_, many_.get());
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

void check(const layout& given) {
  if (given.itemsize() <= 0) throw std::invalid_argument("itemsize must be positive");
  const std::int64_t* const extents = given.extents();
  if (std::any_of(extents, extents + given.ndim(), [](std::int64_t n) { return n < 0; })) {
    throw std::invalid_argument("Extents must be non-negative");
  }
}

void divide_strides(layout& given) {
  for (int axis = 0; axis < given.ndim(); ++axis) {
    std::int64_t& stride = given.strides()[axis];
    if (stride % given.itemsize() != 0) {
      throw std::invalid_argument("strides must be divisible by itemsize: the stride of axis " +
                                  std::to_string(axis) + " is " + std::to_string(stride) +
                                  " bytes, the itemsize " + std::to_string(given.itemsize()));
    }
    stride /= given.itemsize();
  }
}

}  // namespace halfwarp::views
