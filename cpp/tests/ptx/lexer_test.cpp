// SPDX-License-Identifier: Apache-2.0
// Tokens: kinds, values, positions and errors.
#include "emulator/ptx/syntax/lexer.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "emulator/ptx/syntax/constant.hpp"

namespace {

using namespace halfwarp::emulator::ptx;
using namespace halfwarp::emulator::ptx::syntax;

std::vector<token> tokens(std::string_view text) {
  lexer l{text};
  std::vector<token> result;
  for (token t = l.next(); t.kind != token_kind::end; t = l.next()) result.push_back(t);
  return result;
}

std::string message_of(std::string_view text) {
  try {
    tokens(text);
  } catch (const syntax_error& error) {
    return std::to_string(error.line) + ":" + std::to_string(error.column) + " " + error.message;
  }
  return "";
}

constant value_of(std::string_view text) {
  cursor at{text};
  return parse_constant(at);
}

TEST(Lexer, DistinguishesKindsOfTokens) {
  const auto result = tokens("add %r1 .shared::cta 12 0f3F800000 1.5 \"a b\" ; $L_1 _");
  const std::vector<token_kind> kinds = {token_kind::identifier, token_kind::identifier,
                                         token_kind::directive,  token_kind::integer,
                                         token_kind::float_bits, token_kind::double_bits,
                                         token_kind::string,     token_kind::punctuation,
                                         token_kind::identifier, token_kind::identifier};
  ASSERT_EQ(result.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(result[i].kind, kinds[i]) << i;
  EXPECT_EQ(result[2].text, ".shared::cta");
  EXPECT_EQ(result[6].text, "a b");
}

TEST(Lexer, CountsLinesAndColumnsThroughComments) {
  const auto result = tokens("a // b\n/* c\n d */ e\n#line 7\n  f");
  ASSERT_EQ(result.size(), 3u);
  EXPECT_EQ(result[1].line, 3u);
  EXPECT_EQ(result[1].column, 7u);
  EXPECT_EQ(result[2].line, 5u);
  EXPECT_EQ(result[2].column, 3u);
}

TEST(Lexer, ReadsWhatFollowsACommentAtOnce) {
  const auto result = tokens("a/*c*/b/**/c/***/d/* /*/e//f\ng");
  ASSERT_EQ(result.size(), 6u);
  const std::vector<std::string_view> texts = {"a", "b", "c", "d", "e", "g"};
  const std::vector<std::uint32_t> columns = {1, 7, 12, 18, 25, 1};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(result[i].text, texts[i]);
    EXPECT_EQ(result[i].column, columns[i]);
    EXPECT_EQ(result[i].line, i == 5 ? 2u : 1u);
  }
  const auto lines = tokens("/*\n*/\na");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].line, 3u);
}

TEST(Lexer, ReadsIntegersOfEveryBase) {
  const auto result = tokens("10 0x1F 017 0b101 7U 0xFFFFFFFFFFFFFFFF 0");
  const std::vector<std::uint64_t> values = {10, 31, 15, 5, 7, ~std::uint64_t{0}, 0};
  ASSERT_EQ(result.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(result[i].value, values[i]) << i;
  EXPECT_TRUE(result[4].is_unsigned);
  EXPECT_TRUE(result[5].is_unsigned);
  EXPECT_FALSE(result[0].is_unsigned);
}

TEST(Lexer, ReadsNothingBehindItsText) {
  const std::string_view text = "12U5";
  const auto without = tokens(text.substr(0, 2)), with = tokens(text.substr(0, 3));
  ASSERT_EQ(without.size(), 1u);
  ASSERT_EQ(with.size(), 1u);
  EXPECT_EQ(without[0].text, "12");
  EXPECT_FALSE(without[0].is_unsigned);
  EXPECT_EQ(with[0].text, "12U");
  EXPECT_TRUE(with[0].is_unsigned);
}

TEST(Lexer, ReadsRealsAsBits) {
  const auto result = tokens("0F3f800000 0d3FF0000000000000 2.5e-1");
  ASSERT_EQ(result.size(), 3u);
  EXPECT_EQ(result[0].value, 0x3f800000u);
  EXPECT_EQ(result[1].value, std::bit_cast<std::uint64_t>(1.0));
  EXPECT_EQ(result[2].value, std::bit_cast<std::uint64_t>(0.25));
}

TEST(Lexer, ReadsSmallRealsAndRefusesRealsOutOfRange) {
  const auto result = tokens("4e-324 1.e5 1.5E+2 0.0e-999");
  ASSERT_EQ(result.size(), 4u);
  const std::vector<double> values = {4e-324, 1e5, 150, 0};
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(result[i].value, std::bit_cast<std::uint64_t>(values[i])) << i;
  EXPECT_EQ(message_of("1e400"), "1:1 real number out of range");
  EXPECT_EQ(message_of("1e-400"), "1:1 real number out of range");
}

TEST(Lexer, RefusesMalformedNumbersAndUnfinishedTokens) {
  EXPECT_EQ(message_of("\n 18446744073709551616"), "2:2 integer needs more than 64 bits");
  EXPECT_EQ(message_of("12ab"), "1:1 malformed number");
  EXPECT_EQ(message_of("09"), "1:1 malformed number");
  EXPECT_EQ(message_of("0f3F80"), "1:1 a constant beginning with 0f has 8 hexadecimal digits");
  EXPECT_EQ(message_of("a /* b"), "1:3 unterminated comment");
  EXPECT_EQ(message_of("\"a\nb\""), "1:1 unterminated string");
  EXPECT_EQ(message_of(std::string_view{"\"a\\b", 2}), "1:1 unterminated string")
      << "what lies behind the text is not read";
  EXPECT_EQ(message_of("a \x01"), "1:3 character with code 1 is not allowed here");
  EXPECT_EQ(message_of(std::string_view{"a\0b", 3}),
            "1:2 character with code 0 is not allowed here");
}

TEST(Lexer, ExtendsAWordOverDotsAndColons) {
  lexer l{"ld.global.L2::128B.v4.f32 x"};
  token t = l.next();
  EXPECT_EQ(t.text, "ld");
  EXPECT_EQ(l.extend_word(t), "ld.global.L2::128B.v4.f32");
  EXPECT_EQ(l.next().text, "x");
}

TEST(Constant, FollowsThePrecedenceOfC) {
  EXPECT_EQ(value_of("2 + 3 * 4").bits, 14u);
  EXPECT_EQ(value_of("(2 + 3) * 4 - 1").bits, 19u);
  EXPECT_EQ(value_of("1 << 4 | 3 & 6 ^ 1").bits, 19u);
  EXPECT_EQ(value_of("7 % 4 == 3 && 2 >= 2 ? 10 : 20").bits, 10u);
  EXPECT_EQ(value_of("!0 || 0").bits, 1u);
  EXPECT_EQ(value_of("WARP_SZ - 1").bits, 31u);
  EXPECT_EQ(value_of("(.u64)-1").bits, ~std::uint64_t{0});
}

TEST(Constant, KeepsSignAndWidth) {
  EXPECT_TRUE(value_of("-1").is_negative());
  EXPECT_FALSE(value_of("0xFFFFFFFFFFFFFFFF").is_negative());
  EXPECT_EQ(value_of("-9223372036854775808").as_signed(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(value_of("-7 / 2").as_signed(), -3);
  EXPECT_EQ(value_of("-9223372036854775808 / -1").as_signed(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(value_of("1 << 64").bits, 0u);
  EXPECT_EQ(value_of("-8 >> 1").as_signed(), -4);
  EXPECT_EQ(value_of("-0f3F800000").bits, 0xbf800000u);
}

TEST(Constant, HasEveryOperatorOnIntegers) {
  constexpr struct {
    const char* text;
    std::int64_t value;
  } cases[] = {{"5 < 7", 1},        {"7 < 7", 0},    {"7 > 5", 1},          {"7 > 7", 0},
               {"7 <= 7", 1},       {"8 <= 7", 0},   {"7 >= 7", 1},         {"6 >= 7", 0},
               {"7 == 7", 1},       {"7 == 8", 0},   {"7 != 8", 1},         {"7 != 7", 0},
               {"-1 < 1", 1},       {"-1U > 1", 1},  {"6 & 3", 2},          {"6 | 3", 7},
               {"6 ^ 3", 5},        {"1 && 2", 1},   {"1 && 0", 0},         {"0 || 0", 0},
               {"0 || 2", 1},       {"-7 % 2", -1},  {"7U / 2", 3},         {"7U % 4", 3},
               {"-5 / -1", 5},      {"-5 % -1", 0},  {"1 << 63 >> 63", -1}, {"8U >> 3", 1},
               {"8U >> 63", 0},     {"8U >> 64", 0}, {"-WARP_SZ / 3", -10}, {"WARP_SZ > -1", 1},
               {"WARP_SZ", 32},     {"!5", 0},       {"!0 > -1", 1},        {"(.s64)5U > -1", 1},
               {"(.u64)5 > -1", 0}, {"(5) > -1", 1}, {"+5 > -1", 1},        {"-8 >> 64", -1},
               {"1 << 63 << 1", 0}, {"~5", -6},      {"9 - 2 - 3", 4},      {"2 * 3 % 4", 2}};
  for (const auto& [text, value] : cases) EXPECT_EQ(value_of(text).as_signed(), value) << text;
}

TEST(Constant, HasFourOperatorsOnReals) {
  const auto real = [](const char* text) { return std::bit_cast<double>(value_of(text).bits); };
  EXPECT_EQ(real("1.5 + 2.0"), 3.5);
  EXPECT_EQ(real("1.5 - 2.0"), -0.5);
  EXPECT_EQ(real("1.5 * 2.0"), 3.0);
  EXPECT_EQ(real("1.5 / 2.0"), 0.75);
  EXPECT_THROW(value_of("1.5 / 0.0"), syntax_error);
  EXPECT_THROW(value_of("1.5 % 2.0"), syntax_error);
}

TEST(Constant, RefusesExpressionsWithoutAValue) {
  EXPECT_THROW(value_of("1 / 0"), syntax_error);
  EXPECT_THROW(value_of("1.5 << 2"), syntax_error);
  EXPECT_THROW(value_of("~1.5"), syntax_error);
  EXPECT_THROW(value_of("(1"), syntax_error);
  EXPECT_THROW(value_of(std::string(10000, '(')), syntax_error);
  EXPECT_THROW(value_of(std::string(10000, '-') + "1"), syntax_error);
}

TEST(Constant, ConvertsToTheTypeOfAVariable) {
  EXPECT_EQ(convert_constant(value_of("1.5"), scalar_type::f32), 0x3fc00000u);
  EXPECT_EQ(convert_constant(value_of("-3"), scalar_type::f32), 0xc0400000u);
  EXPECT_EQ(convert_constant(value_of("0f3F800000"), scalar_type::f64),
            std::bit_cast<std::uint64_t>(1.0));
  EXPECT_EQ(convert_constant(value_of("0f3F800000"), scalar_type::b32), 0x3f800000u);
  EXPECT_EQ(convert_constant(value_of("-1"), scalar_type::u64), ~std::uint64_t{0});
}

}  // namespace
