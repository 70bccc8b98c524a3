// SPDX-License-Identifier: Apache-2.0
// Layout of a strided array: extents, strides, element size, offset.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace halfwarp::views {

// Extents, strides and offset count elements. Throws std::invalid_argument for an invalid layout,
// and std::overflow_error for numbers of more than 64 bits.
class layout {
 public:
  static constexpr int max_ndim = 64;

  constexpr layout() noexcept = default;  // no dimensions; the element size is not set
  // Sets extents and strides to zero. A layout without strides is in C order.
  layout(int ndim, int itemsize, bool has_strides);
  layout(const layout& other);
  layout& operator=(const layout& other);
  layout(layout&& other) noexcept = default;
  layout& operator=(layout&& other) noexcept = default;
  ~layout() = default;

  [[nodiscard]] int ndim() const noexcept { return ndim_; }
  [[nodiscard]] int itemsize() const noexcept { return itemsize_; }
  // Whether the layout describes elements; false for a default-constructed layout.
  [[nodiscard]] explicit operator bool() const noexcept { return itemsize_ > 0; }
  [[nodiscard]] bool has_strides() const noexcept { return has_strides_; }
  [[nodiscard]] std::int64_t offset() const noexcept { return offset_; }
  void set_itemsize(int itemsize) noexcept { itemsize_ = itemsize; }
  void set_offset(std::int64_t offset) noexcept { offset_ = offset; }

  [[nodiscard]] const std::int64_t* extents() const noexcept {
    return heap_values_ ? heap_values_.get() : inline_values_.data();
  }
  [[nodiscard]] std::int64_t* extents() noexcept {
    return heap_values_ ? heap_values_.get() : inline_values_.data();
  }
  // For a layout without strides: zeros, or the strides of C order.
  [[nodiscard]] const std::int64_t* strides() const noexcept { return extents() + ndim_; }
  [[nodiscard]] std::int64_t* strides() noexcept { return extents() + ndim_; }

  [[nodiscard]] bool is_empty() const noexcept;
  // Returns the same layout with strides.
  [[nodiscard]] layout with_strides() const;
  [[nodiscard]] bool operator==(const layout& other) const noexcept;

 private:
  static constexpr int inline_ndim = 4;  // stored without an allocation

  int ndim_ = 0;
  int itemsize_ = 0;
  bool has_strides_ = false;
  std::int64_t offset_ = 0;
  std::array<std::int64_t, 2 * inline_ndim> inline_values_{};
  std::unique_ptr<std::int64_t[]> heap_values_;
};

[[noreturn]] void refuse_extent(std::size_t axis, std::int64_t extent);

// Throws for a negative extent, and for an element size that is not positive.
void check(const layout& input);

// Converts strides from bytes to elements.
void divide_strides(layout& target);

}  // namespace halfwarp::views
