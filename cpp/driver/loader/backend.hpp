// SPDX-License-Identifier: Apache-2.0
// Which library answers the driver's functions: libcuda or the emulator.
#pragma once

#include "driver/loader/python_side.hpp"

namespace halfwarp::driver {

struct open_driver {
  void* handle = nullptr;
  backend_id backend = BACKEND_NONE;
};

// The backend that `requested` or HALFWARP_BACKEND names; BACKEND_NONE for auto, and for a value
// that is not understood.
backend_id wanted_backend(backend_id requested) noexcept;

// Opens what HALFWARP_BACKEND names, or `requested` when that is not BACKEND_NONE. A handle of
// null means that `failure` says why.
open_driver open_backend(backend_id requested, loader_failure& failure) noexcept;

// Opens a library of ours that lies beside the extension with this code, such as the emulator.
// Null: `failure` says why.
void* open_beside(const char* file, loader_failure& failure) noexcept;

}  // namespace halfwarp::driver
