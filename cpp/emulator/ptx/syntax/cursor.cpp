// SPDX-License-Identifier: Apache-2.0
// Implements expect, accept and skip.
#include "emulator/ptx/syntax/cursor.hpp"

#include <utility>

namespace halfwarp::emulator::ptx::syntax {

token cursor::advance() {
  previous_end_ = lexer_.position();
  return std::exchange(current_, lexer_.next());
}

bool cursor::accept(char c) {
  if (!at(c)) return false;
  advance();
  return true;
}

bool cursor::accept_directive(std::string_view text) {
  if (!at_directive(text)) return false;
  advance();
  return true;
}

bool cursor::accept_identifier(std::string_view text) {
  if (!at_identifier(text)) return false;
  advance();
  return true;
}

void cursor::fail_expected(std::string_view expected) const {
  fail("expected " + std::string{expected} + ", found " + token_text(current_));
}

void cursor::expect(char c, std::string_view position) {
  if (at(c)) {
    advance();
    return;
  }
  fail_expected("'" + std::string(1, c) + "' " + std::string{position});
}

std::string_view cursor::expect_identifier(std::string_view expected) {
  if (!at(token_kind::identifier)) fail_expected(expected);
  return advance().text;
}

std::uint32_t cursor::expect_number(std::string_view expected) {
  if (!at(token_kind::integer)) fail_expected(expected);
  if (current_.value > 0xffff'ffffu) fail(std::string{expected} + " is too large");
  return static_cast<std::uint32_t>(advance().value);
}

std::string_view cursor::text_since(std::size_t offset) const noexcept {
  return lexer_.text().substr(offset, previous_end_ < offset ? 0 : previous_end_ - offset);
}

void cursor::skip_balanced() {
  const token opening = current_;
  std::size_t depth = 0;
  do {
    if (at(token_kind::end)) fail(opening, token_text(opening) + " is never closed");
    if (at('{') || at('(')) ++depth;
    if (at('}') || at(')')) --depth;
    advance();
  } while (depth > 0);
}

void cursor::skip_to_semicolon() {
  while (!at(';')) {
    if (at('{') || at('(')) {
      skip_balanced();
    } else if (at('}') || at(token_kind::end)) {
      fail_expected("';'");
    } else {
      advance();
    }
  }
}

void cursor::skip_directive() {
  const std::uint32_t line = current_.line;
  while (!at(token_kind::end) && current_.line == line && !at('}')) {
    if (accept(';')) return;
    advance();
  }
}

}  // namespace halfwarp::emulator::ptx::syntax
