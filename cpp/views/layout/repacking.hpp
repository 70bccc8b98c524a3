// SPDX-License-Identifier: Apache-2.0
// Views the same bytes as elements of another size.
#pragma once

#include <cstdint>

#include "views/layout/layout.hpp"

namespace halfwarp::views {

// Repacks an axis into elements of another size; `address` is the address of the memory.
[[nodiscard]] layout repacked(const layout& input, std::int64_t itemsize, std::int64_t address,
                              std::int64_t axis, bool keep_dim);

// Returns the largest divisor of `limit` that is a multiple of the element size and valid for
// repacked(), or the element size if there is none.
[[nodiscard]] std::int64_t max_compatible_itemsize(const layout& input, std::int64_t limit,
                                                   std::int64_t address, std::int64_t axis);

}  // namespace halfwarp::views
