// SPDX-License-Identifier: Apache-2.0
// The driver table of the process, through which the runtime calls the driver.
#pragma once

#include "driver/driver_table.hpp"

namespace halfwarp::emulated_runtime {

// Null before halfwarp_cudart_connect.
inline constinit const driver::driver_table* table = nullptr;

}  // namespace halfwarp::emulated_runtime

// Call once, before any function of the runtime. The caller owns the table, which must stay valid.
extern "C" [[gnu::visibility("default")]] void halfwarp_cudart_connect(
    const halfwarp::driver::driver_table* driver) noexcept;
