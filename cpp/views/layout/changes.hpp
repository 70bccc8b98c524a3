// SPDX-License-Identifier: Apache-2.0
// Layouts that are made of others: the same memory, looked at in another way.
#pragma once

#include <cstdint>
#include <span>

#include "views/layout/layout.hpp"

namespace halfwarp::views {

// One extent may be -1: what is left for it. Throws where it would take a copy.
[[nodiscard]] layout reshaped(const layout& given, std::span<const std::int64_t> shape);

[[nodiscard]] layout permuted(const layout& given, std::span<const std::int64_t> axes);

// Bit i: axis i and the one before it are one axis of a single stride.
using axes_mask = std::uint64_t;
[[nodiscard]] axes_mask flattened_axis_mask(const layout& given);
// Merges the axes that the mask names, where a single stride serves them.
[[nodiscard]] layout flattened(const layout& given, axes_mask mask);
// The bits of the axes that follow `start` up to `end`, both of which it has.
[[nodiscard]] axes_mask mask_of_range(int ndim, std::int64_t start, std::int64_t end);

[[nodiscard]] layout squeezed(const layout& given);
// `axes` are those of the result.
[[nodiscard]] layout unsqueezed(const layout& given, std::span<const std::int64_t> axes);
[[nodiscard]] layout broadcast_to(const layout& given, std::span<const std::int64_t> shape);

// One entry of a subscript.
struct subscript {
  enum kind_type : int { index, range, new_axis } kind;
  std::int64_t start, step, count;  // `start` alone for an index
};
[[nodiscard]] layout sliced(const layout& given, std::span<const subscript> entries);

}  // namespace halfwarp::views
