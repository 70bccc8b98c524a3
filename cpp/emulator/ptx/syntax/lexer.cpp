// SPDX-License-Identifier: Apache-2.0
// Implements the lexer: character classes, numbers and comments.
#include "emulator/ptx/syntax/lexer.hpp"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace halfwarp::emulator::ptx::syntax {
namespace {

enum : std::uint8_t { blank = 1, word_start = 2, word_part = 4, digit = 8, hex_digit = 16 };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (unsigned char c : {' ', '\t', '\r', '\n', '\f', '\v'}) classes[c] = blank;
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = word_start | word_part;
  for (unsigned char c : {'_', '$'}) classes[c] = word_start | word_part;
  classes['%'] = word_start;
  for (int c = '0'; c <= '9'; ++c) classes[c] = word_part | digit | hex_digit;
  for (int c = 'a'; c <= 'f'; ++c) {
    classes[c] |= hex_digit;
    classes[c - 'a' + 'A'] |= hex_digit;
  }
  return classes;
}
constexpr auto classes = make_classes();

bool is_in(char c, std::uint8_t character_class) noexcept {
  return (classes[static_cast<unsigned char>(c)] & character_class) != 0;
}

}  // namespace

token lexer::here() const noexcept {
  token t;
  t.line = line_;
  t.column = static_cast<std::uint32_t>(position_ - line_start_ + 1);
  t.offset = position_;
  return t;
}

void lexer::count_line() noexcept {
  ++line_;
  line_start_ = position_ + 1;
}

void lexer::fail(const token& at, std::string message) const {
  throw syntax_error{at.line, at.column, std::move(message)};
}

std::size_t lexer::count_while(std::size_t from, std::uint8_t character_class) const noexcept {
  std::size_t end = from;
  while (end < text_.size() && is_in(text_[end], character_class)) ++end;
  return end - from;
}

void lexer::skip_line() noexcept {
  const auto newline = text_.find('\n', position_);
  position_ = newline == std::string_view::npos ? text_.size() : newline;
}

void lexer::skip_comment() {
  const token start = here();
  const auto end = text_.find("*/", position_ + 2);
  if (end == std::string_view::npos) fail(start, "unterminated comment");
  for (; position_ < end + 2; ++position_) {
    if (text_[position_] == '\n') count_line();
  }
}

void lexer::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (is_in(c, blank)) {
      if (c == '\n') count_line();
      ++position_;
    } else if (c == '/' && text_.substr(position_, 2) == "//") {
      skip_line();
    } else if (c == '/' && text_.substr(position_, 2) == "/*") {
      skip_comment();
    } else if (c == '#' ||
               (c == '@' && text_.substr(position_, 2) == "@@")) {  // preprocessor, old DWARF lines
      skip_line();
    } else {
      return;
    }
  }
}

token lexer::next() {
  skip_blanks();
  token t = here();
  if (position_ == text_.size()) return t;
  const char c = text_[position_];
  const char after = position_ + 1 < text_.size() ? text_[position_ + 1] : '\0';
  if (is_in(c, word_start) && (c != '%' || is_in(after, word_part))) return word(t);
  if (c == '.' && is_in(after, word_start)) return directive(t);
  if (is_in(c, digit) || (c == '.' && is_in(after, digit))) return number(t);
  if (c == '"') return string(t);
  if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') {
    fail(t, "character with code " + std::to_string(static_cast<unsigned char>(c)) +
                " is not allowed here");
  }
  t.kind = token_kind::punctuation;
  t.text = text_.substr(position_++, 1);
  return t;
}

token lexer::word(token t) noexcept {
  t.kind = token_kind::identifier;
  const std::size_t length = 1 + count_while(position_ + 1, word_part);
  t.text = text_.substr(position_, length);
  position_ += length;
  return t;
}

token lexer::directive(token t) noexcept {
  t.kind = token_kind::directive;
  std::size_t end = position_ + 1 + count_while(position_ + 1, word_part);
  while (text_.substr(end, 2) == "::" && count_while(end + 2, word_part) > 0) {
    end += 2 + count_while(end + 2, word_part);
  }
  t.text = text_.substr(position_, end - position_);
  position_ = end;
  return t;
}

std::string_view lexer::extend_word(const token& word) noexcept {
  std::size_t end = position_;
  while (end < text_.size()) {
    const std::size_t separator = text_[end] == '.' ? 1 : text_.substr(end, 2) == "::" ? 2 : 0;
    const std::size_t length = separator == 0 ? 0 : count_while(end + separator, word_part);
    if (length == 0) break;
    end += separator + length;
  }
  position_ = end;
  return text_.substr(word.offset, end - word.offset);
}

token lexer::real_bits(token t, token_kind kind, std::size_t digits) {
  const std::size_t start = position_ + 2;
  if (count_while(start, hex_digit) != digits || count_while(start, word_part) != digits) {
    fail(t, "a constant beginning with " + std::string{text_.substr(position_, 2)} + " has " +
                std::to_string(digits) + " hexadecimal digits");
  }
  t.kind = kind;
  t.text = text_.substr(position_, digits + 2);
  std::from_chars(text_.data() + start, text_.data() + start + digits, t.value, 16);
  position_ = start + digits;
  return t;
}

// Uses strtod_l, because the libstdc++ of manylinux_2_28 has no std::from_chars for real numbers.
token lexer::decimal_real(token t) {
  static const locale_t plain =
      newlocale(LC_ALL_MASK, "C", nullptr);  // decimal point in any locale
  const std::size_t stop = text_.find_first_not_of("0123456789.eE+-", position_);
  const std::string candidate{text_.substr(position_, stop - position_)};
  char* end = nullptr;
  errno = 0;
  const double value = strtod_l(candidate.c_str(), &end, plain);
  const bool is_lost = value == 0 || std::isinf(value);  // excludes subnormal values
  if (errno == ERANGE && is_lost) fail(t, "real number out of range");
  t.kind = token_kind::double_bits;
  t.value = std::bit_cast<std::uint64_t>(value);
  t.text = text_.substr(position_, static_cast<std::size_t>(end - candidate.c_str()));
  position_ += t.text.size();
  if (count_while(position_, word_part) > 0) fail(t, "malformed number");
  return t;
}

token lexer::number(token t) {
  const std::string_view remaining = text_.substr(position_);
  const char second = remaining.size() > 1 ? static_cast<char>(remaining[1] | 0x20) : '\0';
  const bool has_prefix = remaining[0] == '0';
  if (has_prefix && second == 'f') return real_bits(t, token_kind::float_bits, 8);
  if (has_prefix && second == 'd') return real_bits(t, token_kind::double_bits, 16);
  const std::size_t decimals = count_while(position_, digit);
  const char stop = decimals < remaining.size() ? remaining[decimals] : '\0';
  const bool is_prefixed = has_prefix && (second == 'x' || second == 'b');
  if (!is_prefixed && (stop == '.' || stop == 'e' || stop == 'E')) return decimal_real(t);

  const int base = !has_prefix || remaining.size() == 1 ? 10
                   : second == 'x'                      ? 16
                   : second == 'b'                      ? 2
                                                        : 8;
  const std::size_t skipped = is_prefixed ? 2 : 0;
  const char* const end = remaining.data() + remaining.size();
  const auto result = std::from_chars(remaining.data() + skipped, end, t.value, base);
  if (result.ec == std::errc::result_out_of_range) fail(t, "integer needs more than 64 bits");
  if (result.ec != std::errc{}) fail(t, "malformed number");
  std::size_t length = static_cast<std::size_t>(result.ptr - remaining.data());
  t.is_unsigned = t.value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (length < remaining.size() && remaining[length] == 'U') {
    t.is_unsigned = true;
    ++length;
  }
  t.kind = token_kind::integer;
  t.text = remaining.substr(0, length);
  position_ += length;
  if (count_while(position_, word_part) > 0) fail(t, "malformed number");
  return t;
}

token lexer::string(token t) {
  std::size_t end = position_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
    const bool is_escape = text_[end] == '\\' && text_.substr(end + 1, 1) != "\n";
    end += is_escape ? 2 : 1;
  }
  if (end >= text_.size() || text_[end] != '"') fail(t, "unterminated string");
  t.kind = token_kind::string;
  t.text = text_.substr(position_ + 1, end - position_ - 1);
  position_ = end + 1;
  return t;
}

std::string token_text(const token& t) {
  constexpr std::size_t max_length = 40;
  if (t.kind == token_kind::end) return "the end of the text";
  std::string text{t.text.substr(0, max_length)};
  return "'" + text + (t.text.size() > max_length ? "..." : "") + "'";
}

}  // namespace halfwarp::emulator::ptx::syntax
