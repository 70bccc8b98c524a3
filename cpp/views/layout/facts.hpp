// SPDX-License-Identifier: Apache-2.0
// What can be said of a layout: its size, its range of memory, whether elements share places.
#pragma once

#include <cstdint>

#include "views/layout/layout.hpp"

namespace halfwarp::views {

// Of element offsets, both inclusive; (0, -1) where there is no element.
struct offset_range {
  std::int64_t first = 0;
  std::int64_t last = -1;
};

[[nodiscard]] std::int64_t volume(const layout& given);
[[nodiscard]] offset_range offset_bounds(const layout& given);
[[nodiscard]] std::int64_t offset_in_bytes(const layout& given);
// From the first byte of the memory; throws where elements lie before it.
[[nodiscard]] std::int64_t required_size_in_bytes(const layout& given);

[[nodiscard]] bool is_contiguous_c(const layout& given) noexcept;
[[nodiscard]] bool is_contiguous_f(const layout& given) noexcept;
[[nodiscard]] bool is_contiguous_any(const layout& given) noexcept;
[[nodiscard]] bool is_dense(const layout& given) noexcept;
// True only if no two elements share a place; exact for what slices and permutes a dense layout.
[[nodiscard]] bool is_unique(const layout& given) noexcept;

}  // namespace halfwarp::views
