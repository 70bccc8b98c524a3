// SPDX-License-Identifier: Apache-2.0
// What the bodies on arrays share.
#pragma once

#include "emulator/api/call.hpp"
#include "emulator/device/array.hpp"

namespace halfwarp::emulator::api {

// A new array of the current context, or a level of `levels`.
std::shared_ptr<cuda_array> make_array(call& c, const CUDA_ARRAY3D_DESCRIPTOR& shape);

// Bytes of the current device, for what is no memory of the program's own.
std::shared_ptr<array_memory> allocate_array_memory(call& c, std::uint64_t bytes,
                                                    memory::address* base);

}  // namespace halfwarp::emulator::api
