// SPDX-License-Identifier: Apache-2.0
// One token of look-ahead over the lexer, with the usual expect and accept.
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
  token take();  // the current token; moves on

  bool at(char c) const noexcept { return current_.is(c); }
  bool at(token_kind kind) const noexcept { return current_.kind == kind; }
  bool at_directive(std::string_view text) const noexcept {
    return current_.is(token_kind::directive, text);
  }
  bool at_identifier(std::string_view text) const noexcept {
    return current_.is(token_kind::identifier, text);
  }
  // The current token stands right behind the text before it, no blank between.
  bool is_adjacent_to(std::size_t end) const noexcept { return current_.offset == end; }
  // The character behind the current token.
  char next_character() const noexcept { return lexer_.peek(); }

  bool accept(char c);
  bool accept_directive(std::string_view text);
  bool accept_identifier(std::string_view text);
  void expect(char c, std::string_view where);
  std::string_view expect_identifier(std::string_view what);
  std::uint32_t expect_number(std::string_view what);  // an integer below 2^32

  // Makes the current word longer by what follows it without a blank: "ld" to "ld.global.f32".
  void extend_word() noexcept { current_.text = lexer_.extend_word(current_); }
  // Text from an offset to the end of the token that was taken last.
  std::string_view text_since(std::size_t offset) const noexcept;
  std::string_view text() const noexcept { return lexer_.text(); }

  // Moves behind the brace or parenthesis that closes the one at the current token.
  void skip_balanced();
  // Moves to the semicolon that ends the statement; braces and parentheses are skipped whole.
  void skip_to_semicolon();
  // Moves behind the statement: up to a semicolon on this line, else to the end of the line.
  void skip_directive();

  [[noreturn]] void fail(std::string message) const { lexer_.fail(current_, std::move(message)); }
  [[noreturn]] void fail(const token& at, std::string message) const {
    lexer_.fail(at, std::move(message));
  }
  [[noreturn]] void fail_expected(std::string_view what) const;

 private:
  lexer lexer_;
  token current_;
  std::size_t taken_end_ = 0;  // end of the token before the current one
};

}  // namespace halfwarp::emulator::ptx::syntax
