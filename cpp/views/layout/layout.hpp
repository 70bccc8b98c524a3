// SPDX-License-Identifier: Apache-2.0
// Where the elements of a strided array lie: extents, strides, the size of an element, an offset.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace halfwarp::views {

// Extents, strides and offset count elements. Errors are std::invalid_argument for what makes no
// layout, std::overflow_error for numbers of more than 64 bits.
class layout {
 public:
  static constexpr int max_ndim = 64;

  constexpr layout() noexcept = default;  // no dimension, and no element size yet
  // Extents and strides are zero; without strides, the order is C's.
  layout(int ndim, int itemsize, bool has_strides);
  layout(const layout& other);
  layout& operator=(const layout& other);
  layout(layout&& other) noexcept = default;
  layout& operator=(layout&& other) noexcept = default;
  ~layout() = default;

  [[nodiscard]] int ndim() const noexcept { return ndim_; }
  [[nodiscard]] int itemsize() const noexcept { return itemsize_; }
  [[nodiscard]] bool has_strides() const noexcept { return has_strides_; }
  [[nodiscard]] std::int64_t offset() const noexcept { return offset_; }
  void set_itemsize(int itemsize) noexcept { itemsize_ = itemsize; }
  void set_offset(std::int64_t offset) noexcept { offset_ = offset; }

  [[nodiscard]] const std::int64_t* extents() const noexcept {
    return many_ ? many_.get() : few_.data();
  }
  [[nodiscard]] std::int64_t* extents() noexcept { return many_ ? many_.get() : few_.data(); }
  // Where there are none: zero, or what C order makes of it.
  [[nodiscard]] const std::int64_t* strides() const noexcept { return extents() + ndim_; }
  [[nodiscard]] std::int64_t* strides() noexcept { return extents() + ndim_; }

  [[nodiscard]] bool is_empty() const noexcept;
  // The same layout with strides.
  [[nodiscard]] layout with_strides() const;
  [[nodiscard]] bool operator==(const layout& other) const noexcept;

 private:
  static constexpr int few_ndim = 4;  // that need no memory of their own

  int ndim_ = 0;
  int itemsize_ = 0;
  bool has_strides_ = false;
  std::int64_t offset_ = 0;
  std::array<std::int64_t, 2 * few_ndim> few_{};
  std::unique_ptr<std::int64_t[]> many_;
};

// Throws for a negative extent and for an element size that is not positive.
void check(const layout& given);

// Strides in bytes become strides in elements.
void divide_strides(layout& given);

}  // namespace halfwarp::views
