// SPDX-License-Identifier: Apache-2.0
// Parses declarations of variables and parameters.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/syntax/cursor.hpp"

namespace halfwarp::emulator::ptx::syntax {

// Parses an optional linkage word (.visible .weak .extern .common). Returns internal if absent.
linkage parse_linkage(cursor& at);

// Checks whether a word such as ".global" starts a declaration. .param does only within functions.
bool begins_variable(std::string_view word) noexcept;

// Parses from the state space to the semicolon, inclusive.
std::vector<variable> parse_variables(cursor& at, linkage link);

// Parses from the opening to the closing parenthesis, inclusive, and sets the offsets.
std::vector<variable> parse_parameters(cursor& at);

struct parameter_block {
  std::uint64_t bytes = 0;
  std::uint32_t alignment = 1;
};
// Computes the layout of a C struct without trailing padding.
parameter_block layout_of(const std::vector<variable>& parameters) noexcept;

// Parses ".attribute(...)". Returns the text in parentheses and sets is_managed for .managed.
std::string_view parse_attribute(cursor& at, bool& is_managed);

}  // namespace halfwarp::emulator::ptx::syntax
