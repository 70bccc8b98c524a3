// SPDX-License-Identifier: Apache-2.0
// Declarations of variables and parameters.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/syntax/cursor.hpp"

namespace halfwarp::emulator::ptx::syntax {

// Current token: a linkage word (.visible .weak .extern .common); else internal, nothing is taken.
linkage parse_linkage(cursor& at);

// Whether a word such as ".global" begins a declaration; .param does within functions only.
bool begins_variable(std::string_view word) noexcept;

// Current token: the state space. Ends behind the semicolon.
std::vector<variable> parse_variables(cursor& at, linkage link);

// Current token: the opening parenthesis. Ends behind the closing one. Offsets are filled in.
std::vector<variable> parse_parameters(cursor& at);

struct parameter_block {
  std::uint64_t bytes = 0;
  std::uint32_t alignment = 1;
};
// Laid out as a struct in C, without padding at the end.
parameter_block measured(const std::vector<variable>& parameters) noexcept;

// ".attribute(...)": the text between the parentheses; is_managed when .managed is among it.
std::string_view parse_attribute(cursor& at, bool& is_managed);

}  // namespace halfwarp::emulator::ptx::syntax
