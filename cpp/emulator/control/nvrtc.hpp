// SPDX-License-Identifier: Apache-2.0
// Replacements of NVRTC functions while kernels are emulated.
#pragma once

#include <string_view>

namespace halfwarp::emulator::control {

// Returns the replacement of `real`, or `real` if there is none. With replacements, a cubin
// carries the PTX of the same compilation.
void* replace_nvrtc(std::string_view name, void* real);

}  // namespace halfwarp::emulator::control
