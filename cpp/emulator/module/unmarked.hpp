// SPDX-License-Identifier: Apache-2.0
// Kernels without the marks of coverage. A profile counts them, since marks change which loads the
// compiler moves and which loops it unrolls.
#pragma once

#include <memory>

#include "emulator/exec/executable.hpp"

namespace halfwarp::emulator {

// Returns the kernel of the PTX that the program compiled, with the variables of `code`. Returns
// null if `entry`, a kernel of `code`, has no marks, or if the two texts have other symbols.
std::shared_ptr<const exec::kernel> unmarked_kernel(const exec::kernel& entry,
                                                    const std::shared_ptr<exec::executable>& code);

}  // namespace halfwarp::emulator
