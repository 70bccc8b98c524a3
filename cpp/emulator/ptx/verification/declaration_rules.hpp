// SPDX-License-Identifier: Apache-2.0
// Checks the declarations of a module: its target, variables and functions.
#pragma once

#include <span>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::ptx {

// Return what is wrong with a declaration, or null.
const char* target_problem(const module& m) noexcept;
const char* variable_problem(const variable& v, bool is_in_body) noexcept;
const char* function_problem(const module& m, const function& f) noexcept;
const char* redeclaration_problem(const function& earlier, const function& later) noexcept;

// Returns whether a register may have a type.
bool is_register_type(scalar_type type) noexcept;

// Returns what is wrong with the arguments of a call, or null.
const char* argument_problem(const function& f, std::span<const operand> arguments,
                             std::span<const variable> declared) noexcept;

}  // namespace halfwarp::emulator::ptx
