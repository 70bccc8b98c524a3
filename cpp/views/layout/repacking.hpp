// SPDX-License-Identifier: Apache-2.0
// The same bytes as elements of another size.
#pragma once

#include <cstdint>

#include "views/layout/layout.hpp"

namespace halfwarp::views {

// Cuts the axis into elements of another size; `address` is that of the memory.
[[nodiscard]] layout repacked(const layout& given, std::int64_t itemsize, std::int64_t address,
                              std::int64_t axis, bool keep_dim);

// The largest divisor of `most` that is a multiple of the element size and that `repacked` takes;
// the element size where there is none.
[[nodiscard]] std::int64_t max_compatible_itemsize(const layout& given, std::int64_t most,
                                                   std::int64_t address, std::int64_t axis);

}  // namespace halfwarp::views
