// SPDX-License-Identifier: Apache-2.0
// Mistakes that a text may have although its form is right.
#pragma once

#include <string_view>
#include <vector>

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/parser.hpp"

namespace halfwarp::emulator::ptx {

// Names that are not declared, things that are defined twice, operands that do not fit their
// instruction. Instructions that the parser does not know are left alone. At most `most` findings,
// in the order of the text.
std::vector<parse_error> verify(const module& m, std::size_t most = 20);

// Parses and verifies: what loading a module does. With findings the value is null, the error is
// the first of them, and the log has one line for each.
parse_result parse_verified(std::string_view text) noexcept;

}  // namespace halfwarp::emulator::ptx
