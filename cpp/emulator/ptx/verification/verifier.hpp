// SPDX-License-Identifier: Apache-2.0
// Checks a parsed module for semantic errors.
#pragma once

#include <string_view>
#include <vector>

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/parser.hpp"

namespace halfwarp::emulator::ptx {

// Finds undeclared names, duplicate definitions, and operands that do not fit their instruction.
// Ignores instructions that the parser does not know. Returns at most `limit` findings in text
// order.
std::vector<parse_error> verify(const module& m, std::size_t limit = 20);

// Parses and verifies a module, as loading does. If there are findings, the value is null, the
// error is the first finding, and the log contains one line per finding.
parse_result parse_verified(std::string_view text) noexcept;

}  // namespace halfwarp::emulator::ptx
