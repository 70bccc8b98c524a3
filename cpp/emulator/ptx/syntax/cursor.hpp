// SPDX-License-Identifier: Apache-2.0
// A cursor over the lexer's tokens with one token of look-ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/ptx/syntax/lexer.hpp"

namespace halfwarp::emulator::ptx::syntax {

class cursor {
 public:
  explicit cursor(std::string_view text) : lexer_{text}, current_{lexer_.next()} {}

  const token& current() const noexcept { return current_; }
  token advance();  // returns the current token and moves to the next

  bool at(char c) const noexcept { return current_.is(c); }
  bool at(token_kind kind) const noexcept { return current_.kind == kind; }
  bool at_directive(std::string_view text) const noexcept {
    return current_.is(token_kind::directive, text);
  }
  bool at_identifier(std::string_view text) const noexcept {
    return current_.is(token_kind::identifier, text);
  }
  // Checks that no blank precedes the current token, given the end of the previous text.
  bool is_adjacent_to(std::size_t end) const noexcept { return current_.offset == end; }
  // Returns the character after the current token.
  char next_character() const noexcept { return lexer_.peek(); }

  bool accept(char c);
  bool accept_directive(std::string_view text);
  bool accept_identifier(std::string_view text);
  void expect(char c, std::string_view position);
  std::string_view expect_identifier(std::string_view expected);
  std::uint32_t expect_number(std::string_view expected);  // an integer below 2^32

  // Extends the current word by directly following characters: "ld" to "ld.global.f32".
  void extend_word() noexcept { current_.text = lexer_.extend_word(current_); }
  // Returns the text from an offset to the end of the previous token.
  std::string_view text_since(std::size_t offset) const noexcept;
  std::string_view text() const noexcept { return lexer_.text(); }

  // Skips the brace or parenthesis at the current token and its contents.
  void skip_balanced();
  // Moves to the semicolon that ends the statement, skipping balanced braces and parentheses.
  void skip_to_semicolon();
  // Skips a directive: to a semicolon on this line, else to the end of the line.
  void skip_directive();

  [[noreturn]] void fail(std::string message) const { lexer_.fail(current_, std::move(message)); }
  [[noreturn]] void fail(const token& at, std::string message) const {
    lexer_.fail(at, std::move(message));
  }
  [[noreturn]] void fail_expected(std::string_view expected) const;

 private:
  lexer lexer_;
  token current_;
  std::size_t previous_end_ = 0;  // end of the token before the current one
};

}  // namespace halfwarp::emulator::ptx::syntax
