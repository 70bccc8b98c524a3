// SPDX-License-Identifier: Apache-2.0
// Writes the addresses of an open library's functions into its table.
#pragma once

#include "driver/loader/backend.hpp"
#include "driver/loader/symbol.hpp"

namespace halfwarp::driver {

// The oldest supported driver, and the first with a version per function.
inline constexpr int oldest_driver = 12000;

// Returns the CUDA version of an open driver, as in 12040; 0 on failure.
int version_of(void* handle) noexcept;

// Makes an open library visible to all threads. Call before writing its functions into slots.
void publish_library() noexcept;

// Fills the driver's table with the functions of that driver version. If the driver is newer,
// cuDriverGetVersion is replaced by a function that returns `version`.
void fill_driver(void* handle, int version) noexcept;

// Fills the table of a library from its `dlopen` handle. With an emulator, replaces the functions
// for which it has replacements.
void fill_from_handle(const library_record& library, void* handle, void* emulator) noexcept;

// Returns whether the environment selects the variants for per-thread default streams.
bool uses_per_thread_streams() noexcept;

}  // namespace halfwarp::driver
