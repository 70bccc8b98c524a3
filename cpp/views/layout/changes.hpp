// SPDX-License-Identifier: Apache-2.0
// Layouts derived from others: different views of the same memory.
#pragma once

#include <cstdint>
#include <span>

#include "views/layout/layout.hpp"

namespace halfwarp::views {

// Computes an extent of -1, of which there may be one. Throws if the shape would need a copy.
[[nodiscard]] layout reshaped(const layout& input, std::span<const std::int64_t> shape);

[[nodiscard]] layout permuted(const layout& input, std::span<const std::int64_t> axes);

// Bit i: axes i - 1 and i can be merged into one axis with a single stride.
using axes_mask = std::uint64_t;
[[nodiscard]] axes_mask flattened_axis_mask(const layout& input);
// Merges the axes of the mask that a single stride serves.
[[nodiscard]] layout flattened(const layout& input, axes_mask mask);
// Returns the mask that merges the axes from `start` to `end`, inclusive.
[[nodiscard]] axes_mask mask_of_range(int ndim, std::int64_t start, std::int64_t end);

[[nodiscard]] layout squeezed(const layout& input);
// `axes` are positions in the result.
[[nodiscard]] layout unsqueezed(const layout& input, std::span<const std::int64_t> axes);
[[nodiscard]] layout broadcast_to(const layout& input, std::span<const std::int64_t> shape);

// An entry of a subscript expression.
struct subscript {
  enum kind_type : int { index, range, new_axis } kind;
  std::int64_t start, step, count;  // an index uses only `start`
};
[[nodiscard]] layout sliced(const layout& input, std::span<const subscript> entries);

}  // namespace halfwarp::views
