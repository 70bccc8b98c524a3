// SPDX-License-Identifier: Apache-2.0
// Shared by the array and graphics functions.
#pragma once

#include "emulator/api/call.hpp"
#include "emulator/device/array.hpp"

namespace halfwarp::emulator::api {

// Creates an array in the current context.
std::shared_ptr<cuda_array> make_array(call& c, const CUDA_ARRAY3D_DESCRIPTOR& shape);

// Allocates memory on the current device that is freed with its array or resource.
std::shared_ptr<array_memory> allocate_array_memory(call& c, std::uint64_t bytes,
                                                    memory::address* base);

}  // namespace halfwarp::emulator::api
