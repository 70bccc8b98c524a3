// SPDX-License-Identifier: Apache-2.0
// The functions that reduce the elements of a bulk copy into its target.
#pragma once

#include "emulator/exec/async/bulk.hpp"
#include "emulator/ptx/vocabulary/qualifier.hpp"
#include "emulator/ptx/vocabulary/types.hpp"

namespace halfwarp::emulator::exec {

// Adds f32 that are subnormal as zero, as maps of the types of flushed numbers do.
void add_flushed(std::byte* to, const std::byte* from, std::size_t bytes);

// Returns null if there is no such reduction.
element_operation find_reduction(ptx::qualifier operation, ptx::scalar_type type) noexcept;

}  // namespace halfwarp::emulator::exec
