// SPDX-License-Identifier: Apache-2.0
// Rewrites decoded instructions for runs that no check and no profile follows.
//
// Indices and sources stay the same, so positions, step counts and reports do too. A tuned
// instruction may be skipped, because its result is already there, or have another handler.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/exec/code.hpp"
#include "emulator/exec/decode/register_plan.hpp"

namespace halfwarp::emulator::exec {

// The shape of an instruction that does nothing, because its result is there already.
inline constexpr std::uint8_t fixed_shape = 255;
// The cache of a branch that fixed values decide.
inline constexpr std::uint32_t decided_branch = 1;

// Sets `tuned` and `fixed` of a function whose code is complete. `first_of` has the first decoded
// instruction of each PTX instruction, and the end.
void tune(const ptx::module& owner, const register_uses& uses, const std::vector<bool>& fixed,
          std::span<const std::uint32_t> first_of, std::span<const std::int64_t> register_slots,
          function_code& function);

// Returns the tuned code without fusion, so that a check sees each access. `is_next` receives for
// each instruction whether it uses the shape of an earlier access.
std::vector<instruction> unfused(const function_code& function, std::vector<bool>& is_next);

}  // namespace halfwarp::emulator::exec
