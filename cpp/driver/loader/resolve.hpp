// SPDX-License-Identifier: Apache-2.0
// Filling a table: at most one thread at a time, at the first call, and again after a failure.
#pragma once

#include "driver/loader_api.hpp"

namespace halfwarp::driver {

// The function behind a slot, or null with a Python error set (and the lock taken to set it).
void* resolve(library_id library, unsigned slot) noexcept;

}  // namespace halfwarp::driver
