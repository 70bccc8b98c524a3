// SPDX-License-Identifier: Apache-2.0
// Properties of a layout: size, range of offsets, overlap of elements.
#pragma once

#include <cstdint>

#include "views/layout/layout.hpp"

namespace halfwarp::views {

// An inclusive range of element offsets; (0, -1) if there are no elements.
struct offset_range {
  std::int64_t first = 0;
  std::int64_t last = -1;
};

[[nodiscard]] std::int64_t volume(const layout& input);
[[nodiscard]] offset_range offset_bounds(const layout& input);
[[nodiscard]] std::int64_t offset_in_bytes(const layout& input);
// Returns the size of the memory from offset 0 to the last element. Throws if an element has a
// negative offset.
[[nodiscard]] std::int64_t required_size_in_bytes(const layout& input);

// Throws std::overflow_error if elements lie outside of the 64-bit address space.
void check_reach(const layout& input, std::uint64_t address);

[[nodiscard]] bool is_contiguous_c(const layout& input) noexcept;
[[nodiscard]] bool is_contiguous_f(const layout& input) noexcept;
[[nodiscard]] bool is_contiguous_any(const layout& input) noexcept;
[[nodiscard]] bool is_dense(const layout& input) noexcept;
// Returns whether no two elements overlap. The result is exact for slices and permutations of dense
// layouts. For other layouts it may be false although no elements overlap.
[[nodiscard]] bool is_unique(const layout& input) noexcept;

}  // namespace halfwarp::views
