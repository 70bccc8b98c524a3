// SPDX-License-Identifier: Apache-2.0
// The runtime's error codes: conversion from driver codes, names and texts.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include <span>

namespace halfwarp::emulated_runtime {

struct error_entry {
  cudaError_t code;
  const char* name;
  const char* text;  // null for the text of the driver's error of the same number
};

// Returns the entries sorted by code. Generated from the API's enum.
std::span<const error_entry> error_entries() noexcept;

// Returns null if the runtime has no such code.
const error_entry* find_error(cudaError_t code) noexcept;

// Returns the runtime's code for a driver code.
cudaError_t from_driver(CUresult code) noexcept;

}  // namespace halfwarp::emulated_runtime
