// SPDX-License-Identifier: Apache-2.0
// 64-bit arithmetic with overflow checks.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace halfwarp::views {

[[noreturn]] inline void throw_too_large() {
  throw std::overflow_error("the layout needs numbers of more than 64 bits");
}

[[nodiscard]] inline std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) throw_too_large();
  return result;
}

[[nodiscard]] inline std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t result;
  if (__builtin_add_overflow(a, b, &result)) throw_too_large();
  return result;
}

// Returns whether a * b equals `number`; false on overflow.
[[nodiscard]] inline bool is_product(std::int64_t number, std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result;
  return !__builtin_mul_overflow(a, b, &result) && result == number;
}

// Returns the absolute value, even of the minimum.
[[nodiscard]] inline std::uint64_t magnitude(std::int64_t number) noexcept {
  return number < 0 ? -static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
}

}  // namespace halfwarp::views
