// SPDX-License-Identifier: Apache-2.0
// The functions of NVRTC as a program calls them where kernels are emulated.
#pragma once

#include <string_view>

namespace halfwarp::emulator::control {

// A function of ours in place of `real`, or `real` itself where there is none. With ours, a cubin
// carries the PTX that the same compilation made.
void* in_place_of_nvrtc(std::string_view name, void* real);

}  // namespace halfwarp::emulator::control
