// SPDX-License-Identifier: Apache-2.0
// PTX text to AST.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::ptx {

struct parse_error {
  std::uint32_t line = 0, column = 0;  // from 1; 0: the whole text
  std::string message;

  // "ptx input, line 12; error: expected ';', found ','"
  std::string to_text() const;
};

struct parse_result {
  std::shared_ptr<module> value;  // null when the text is malformed
  parse_error error;              // meaningful when value is null
  std::string log;                // every error, a line each; empty without errors

  explicit operator bool() const noexcept { return value != nullptr; }
};

// The text is copied once into the module. Throws nothing; time and memory grow linearly with the
// length of the text. An instruction or directive of unknown name is recorded, not refused.
parse_result parse(std::string_view text) noexcept;

}  // namespace halfwarp::emulator::ptx
