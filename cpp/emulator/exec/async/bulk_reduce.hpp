// SPDX-License-Identifier: Apache-2.0
// The functions that reduce the elements of a bulk copy into its target.
#pragma once

#include "emulator/exec/async/bulk.hpp"
#include "emulator/ptx/vocabulary/qualifier.hpp"
#include "emulator/ptx/vocabulary/types.hpp"

namespace halfwarp::emulator::exec {

// Returns null if there is no such reduction.
element_operation find_reduction(ptx::qualifier operation, ptx::scalar_type type) noexcept;

}  // namespace halfwarp::emulator::exec
