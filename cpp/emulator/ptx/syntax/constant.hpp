// SPDX-License-Identifier: Apache-2.0
// Constant expressions: "-1", "(3 << 4) | 1", "0f3F800000".
#pragma once

#include <cstdint>

#include "emulator/ptx/syntax/cursor.hpp"
#include "emulator/ptx/vocabulary/types.hpp"

namespace halfwarp::emulator::ptx::syntax {

struct constant {
  enum class form : std::uint8_t { integer, float_bits, double_bits };

  form kind = form::integer;
  bool is_unsigned = false;
  std::uint64_t bits = 0;  // a float uses the low 32

  std::int64_t as_signed() const noexcept { return static_cast<std::int64_t>(bits); }
  bool is_negative() const noexcept {
    return kind == form::integer && !is_unsigned && as_signed() < 0;
  }
};

// Checks whether the current token can start a constant expression.
bool begins_constant(const cursor& at) noexcept;
// Parses an expression with the operators of C. Arithmetic wraps at 64 bits; division by zero is an
// error.
constant parse_constant(cursor& at);
// Parses only operators that bind tighter than + and -, for "sym + 4 - 2".
constant parse_constant_term(cursor& at);
// Returns the constant converted to the type, in the low bits.
std::uint64_t convert_constant(const constant& value, scalar_type type) noexcept;

}  // namespace halfwarp::emulator::ptx::syntax
