// SPDX-License-Identifier: Apache-2.0
// Parses PTX text to an abstract syntax tree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::ptx {

struct parse_error {
  std::uint32_t line = 0, column = 0;  // from 1; 0: no position
  std::string message;

  // Returns a text such as "ptx input, line 12; error: expected ';', found ','".
  std::string to_text() const;
};

struct parse_result {
  std::shared_ptr<module> value;  // null if the text is malformed
  parse_error error;              // valid if value is null
  std::string log;                // one line per error

  explicit operator bool() const noexcept { return value != nullptr; }
};

// Parses a module, which stores a copy of the text. Time and memory are linear in its length.
// Unknown instructions and directives are recorded and not refused.
parse_result parse(std::string_view text) noexcept;

}  // namespace halfwarp::emulator::ptx
