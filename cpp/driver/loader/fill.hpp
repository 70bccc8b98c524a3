// SPDX-License-Identifier: Apache-2.0
// Writing the addresses of an open library's functions into its table.
#pragma once

#include "driver/loader/backend.hpp"
#include "driver/loader/symbol.hpp"

namespace halfwarp::driver {

// The oldest driver that is supported: the first one whose functions have versions of their own.
inline constexpr int oldest_driver = 12000;

// The CUDA version of an open driver, as in 12040; 0 when it does not tell.
int version_of(void* handle) noexcept;

// After a library was opened, before its functions are written into slots.
void show_library_to_threads() noexcept;

// Fills the driver's table with the functions that a driver of that version has. One that answers
// for an older driver than it is says so when asked for its version.
void fill_driver(void* handle, int version) noexcept;

// Fills the table of a library that `dlopen` gave a handle of. With an emulator, that is asked for
// functions to take in their place.
void fill_from_handle(const library_record& library, void* handle, void* emulator) noexcept;

// Whether the environment asks for the variants for per-thread default streams.
bool wants_per_thread_streams() noexcept;

}  // namespace halfwarp::driver
