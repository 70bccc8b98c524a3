// SPDX-License-Identifier: Apache-2.0
// Cursor: expect, accept, skip.
#include "emulator/ptx/syntax/cursor.hpp"

#include <utility>

namespace halfwarp::emulator::ptx::syntax {

token cursor::take() {
  taken_end_ = lexer_.position();
  return std::exchange(current_, lexer_.next());
}

bool cursor::accept(char c) {
  if (!at(c)) return false;
  take();
  return true;
}

bool cursor::accept_directive(std::string_view text) {
  if (!at_directive(text)) return false;
  take();
  return true;
}

bool cursor::accept_identifier(std::string_view text) {
  if (!at_identifier(text)) return false;
  take();
  return true;
}

void cursor::fail_expected(std::string_view what) const {
  fail("expected " + std::string{what} + ", found " + described(current_));
}

void cursor::expect(char c, std::string_view where) {
  if (at(c)) {
    take();
    return;
  }
  fail_expected("'" + std::string(1, c) + "' " + std::string{where});
}

std::string_view cursor::expect_identifier(std::string_view what) {
  if (!at(token_kind::identifier)) fail_expected(what);
  return take().text;
}

std::uint32_t cursor::expect_number(std::string_view what) {
  if (!at(token_kind::integer)) fail_expected(what);
  if (current_.value > 0xffff'ffffu) fail(std::string{what} + " is too large");
  return static_cast<std::uint32_t>(take().value);
}

std::string_view cursor::text_since(std::size_t offset) const noexcept {
  return lexer_.text().substr(offset, taken_end_ < offset ? 0 : taken_end_ - offset);
}

void cursor::skip_balanced() {
  const token opening = current_;
  std::size_t depth = 0;
  do {
    if (at(token_kind::end)) fail(opening, described(opening) + " is never closed");
    if (at('{') || at('(')) ++depth;
    if (at('}') || at(')')) --depth;
    take();
  } while (depth > 0);
}

void cursor::skip_to_semicolon() {
  while (!at(';')) {
    if (at('{') || at('(')) {
      skip_balanced();
    } else if (at('}') || at(token_kind::end)) {
      fail_expected("';'");
    } else {
      take();
    }
  }
}

void cursor::skip_directive() {
  const std::uint32_t line = current_.line;
  while (!at(token_kind::end) && current_.line == line && !at('}')) {
    if (accept(';')) return;
    take();
  }
}

}  // namespace halfwarp::emulator::ptx::syntax
