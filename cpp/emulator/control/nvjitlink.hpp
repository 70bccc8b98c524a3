// SPDX-License-Identifier: Apache-2.0
// Replacements of nvJitLink functions while kernels are emulated.
#pragma once

#include <string_view>

namespace halfwarp::emulator::control {

// Returns the replacement of `real`, or `real` if there is none. With replacements, linked cubins
// carry the PTX of their inputs, which can be emulated.
void* replace_nvjitlink(std::string_view name, void* real);

}  // namespace halfwarp::emulator::control
