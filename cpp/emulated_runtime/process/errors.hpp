// SPDX-License-Identifier: Apache-2.0
// The runtime's error codes: from the driver's, their names and texts.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include <span>

namespace halfwarp::emulated_runtime {

struct error_entry {
  cudaError_t code;
  const char* name;
  const char* text;
};

// Sorted by code. Generated from the API's enum.
std::span<const error_entry> error_entries() noexcept;

// Null when the runtime has no such code.
const error_entry* find_error(cudaError_t code) noexcept;

// What the runtime answers when the driver answers this.
cudaError_t from_driver(CUresult code) noexcept;

}  // namespace halfwarp::emulated_runtime
