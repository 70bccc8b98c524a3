// SPDX-License-Identifier: Apache-2.0
// Fills a table at the first call, on one thread at a time, and again after a failure.
#pragma once

#include "driver/loader_api.hpp"

namespace halfwarp::driver {

// Returns the function of a slot. On failure returns null and sets a Python error (with the GIL).
void* resolve(library_id library, unsigned slot) noexcept;

}  // namespace halfwarp::driver
