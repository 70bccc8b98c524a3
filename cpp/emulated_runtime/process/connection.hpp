// SPDX-License-Identifier: Apache-2.0
// The driver that the runtime stands on: the table of the process, and never a library.
#pragma once

#include "driver/driver_table.hpp"

namespace halfwarp::emulated_runtime {

// Null until halfwarp_cudart_connect has been called.
inline constinit const driver::driver_table* table = nullptr;

}  // namespace halfwarp::emulated_runtime

// Called once, before any function of the runtime. The table stays the caller's, for good.
extern "C" [[gnu::visibility("default")]] void halfwarp_cudart_connect(
    const halfwarp::driver::driver_table* driver) noexcept;
