// SPDX-License-Identifier: Apache-2.0
// Opens the library that implements the driver's functions: libcuda or the emulator.
#pragma once

#include "driver/loader/python_side.hpp"

namespace halfwarp::driver {

struct open_driver {
  void* handle = nullptr;
  backend_id backend = BACKEND_NONE;
};

// Returns the backend of `requested` or HALFWARP_BACKEND; BACKEND_NONE for auto and for invalid
// values.
backend_id select_backend(backend_id requested) noexcept;

// Opens `requested`, or the backend of HALFWARP_BACKEND if that is BACKEND_NONE. Returns a null
// handle and fills `failure` on failure.
open_driver open_backend(backend_id requested, loader_failure& failure) noexcept;

// Opens a library of this package, such as the emulator, in the folder of this extension. Returns
// null and fills `failure` on failure.
void* open_sibling(const char* file, loader_failure& failure) noexcept;

}  // namespace halfwarp::driver
