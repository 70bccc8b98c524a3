// SPDX-License-Identifier: Apache-2.0
// The driver table of the process, through which the runtime calls the driver.
#pragma once

#include <string>

#include "driver/driver_table.hpp"

namespace halfwarp::emulated_runtime {

// Null before the first connection.
inline constinit const driver::driver_table* table = nullptr;

// Generated: the exported names in table order, each with its NUL.
extern const char driver_names[];

// Ensures that a table is set. The loader of cuda.bindings sets its own; for a compiled program,
// the first call opens the emulated driver. Returns false if there is none.
bool ensure_connection() noexcept;

// Returns the emulated driver's reason for a code that this thread has just received, or an empty
// text.
std::string reason_of(CUresult code);

// Lets a link succeed with undefined functions; a launch that reaches one is refused.
void allow_undefined(CUlinkState state) noexcept;

// Selects what stream 0 means in driver calls of this thread: the per-thread default stream or the
// legacy one. Returns the previous selection.
bool select_per_thread_streams(bool is_selected) noexcept;

}  // namespace halfwarp::emulated_runtime

// Call before any function of the runtime. The caller owns the table, which must stay valid.
extern "C" [[gnu::visibility("default")]] void halfwarp_cudart_connect(
    const halfwarp::driver::driver_table* driver) noexcept;
