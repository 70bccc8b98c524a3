// SPDX-License-Identifier: Apache-2.0
// Selects the context of a runtime call: the current context, else a primary context.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace halfwarp::emulated_runtime {

// Calls cuInit until it succeeds once.
cudaError_t initialize() noexcept;

// Ensures that a context is current in this thread. A context that the program set by the driver
// API is unchanged; otherwise the primary context of the thread's device becomes current. The
// runtime retains it once per process, and again after a reset.
cudaError_t make_context_current() noexcept;

// Returns the device of the current context, or the device that the next call would use.
cudaError_t current_device(int* device) noexcept;

// Makes the primary context of a device current in this thread, replacing any other.
cudaError_t bind_device(int device) noexcept;

// Retains the primary context of a device without making it current.
cudaError_t retain_primary(int device, CUcontext* primary) noexcept;

// Resets the primary context of the current device; the next call retains it again.
cudaError_t reset_device() noexcept;

}  // namespace halfwarp::emulated_runtime
