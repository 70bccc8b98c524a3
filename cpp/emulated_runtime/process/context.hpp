// SPDX-License-Identifier: Apache-2.0
// Which context a runtime call works in: the one that is current, else a primary context.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace halfwarp::emulated_runtime {

// cuInit, until it succeeds.
cudaError_t initialise() noexcept;

// A context is current in this thread afterwards. One that the program set through the driver's
// API stays; otherwise it is the primary context of the thread's device, which the runtime retains
// once for the process and takes up again after a reset.
cudaError_t make_context_current() noexcept;

// The device of the current context, or the one that would be used.
cudaError_t current_device(int* device) noexcept;

// Makes the primary context of a device current in this thread, whatever was before.
cudaError_t bind_device(int device) noexcept;

// The primary context of a device, retained; current nowhere on that account.
cudaError_t retain_primary(int device, CUcontext* primary) noexcept;

// Everything in the primary context of the current device is gone; the next call begins anew.
cudaError_t reset_device() noexcept;

}  // namespace halfwarp::emulated_runtime
