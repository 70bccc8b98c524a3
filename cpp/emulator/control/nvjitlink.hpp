// SPDX-License-Identifier: Apache-2.0
// The functions of nvJitLink as a program calls them where kernels are emulated.
#pragma once

#include <string_view>

namespace halfwarp::emulator::control {

// A function of ours in place of `real`, which it calls; `real` itself where there is none. With
// ours, linked cubins carry the PTX of all that was linked, which can be emulated.
void* in_place_of_nvjitlink(std::string_view name, void* real);

}  // namespace halfwarp::emulator::control
