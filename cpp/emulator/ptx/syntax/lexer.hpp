// SPDX-License-Identifier: Apache-2.0
// Splits PTX text into tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace halfwarp::emulator::ptx::syntax {

// Thrown inside the parser and caught by parse().
struct syntax_error {
  std::uint32_t line = 0, column = 0;
  std::string message;
};

enum class token_kind : std::uint8_t {
  end,
  identifier,   // add, %r1, $L__BB0_2, _
  directive,    // .reg, .shared::cta; text includes the dot
  integer,      // value
  float_bits,   // 0f3F800000, value
  double_bits,  // 0d3FF0000000000000 or 1.5e3, value
  string,       // text without the quotes
  punctuation,  // one character
};

struct token {
  token_kind kind = token_kind::end;
  bool is_unsigned = false;  // an integer with U, or too large for 63 bits
  std::uint32_t line = 1, column = 1;
  std::size_t offset = 0;  // of the first character, quotes included
  std::string_view text;
  std::uint64_t value = 0;

  bool is(char c) const noexcept { return kind == token_kind::punctuation && text.front() == c; }
  bool is(token_kind k, std::string_view t) const noexcept { return kind == k && text == t; }
};

class lexer {
 public:
  explicit lexer(std::string_view text) noexcept : text_{text} {}

  token next();
  // Extends a word such as "ld" to "ld.global.f32" by characters directly after the last token.
  std::string_view extend_word(const token& word) noexcept;

  std::string_view text() const noexcept { return text_; }
  std::size_t position() const noexcept { return position_; }  // after the last token
  char peek() const noexcept { return position_ < text_.size() ? text_[position_] : '\0'; }
  [[noreturn]] void fail(const token& at, std::string message) const;

 private:
  token here() const noexcept;
  void skip_blanks();
  void count_line() noexcept;  // at a newline
  void skip_comment();
  void skip_line() noexcept;
  token word(token t) noexcept;
  token directive(token t) noexcept;
  token number(token t);
  token real_bits(token t, token_kind kind, std::size_t digits);
  token decimal_real(token t);
  token string(token t);
  std::size_t count_while(std::size_t from, std::uint8_t character_class) const noexcept;

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
};

// Returns a token for messages: "','", "the end of the text", "'add'". Truncates long tokens.
std::string token_text(const token& t);

}  // namespace halfwarp::emulator::ptx::syntax
