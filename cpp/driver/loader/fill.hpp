// SPDX-License-Identifier: Apache-2.0
// Writing the addresses of an open library's functions into its table.
#pragma once

#include "driver/loader/backend.hpp"
#include "driver/loader/symbol.hpp"

namespace halfwarp::driver {

// Fills the driver's table with the functions that a driver of at most `version_limit` has (0: no
// limit); the version of the open driver.
int fill_driver(void* handle, int version_limit) noexcept;

// Fills the table of a library that `dlopen` gave a handle of.
void fill_from_handle(const library_record& library, void* handle) noexcept;

// Whether the environment asks for the variants for per-thread default streams.
bool wants_per_thread_streams() noexcept;

}  // namespace halfwarp::driver
