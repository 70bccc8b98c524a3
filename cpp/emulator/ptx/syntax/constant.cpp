// SPDX-License-Identifier: Apache-2.0
// Parses constant expressions by precedence climbing.
#include "emulator/ptx/syntax/constant.hpp"

#include <array>
#include <bit>
#include <limits>
#include <string_view>

namespace halfwarp::emulator::ptx::syntax {
namespace {

using form = constant::form;

constexpr int max_depth = 64;  // protects the stack from hostile text

struct binary_operator {
  std::string_view spelling;
  int precedence;  // higher binds tighter
};

// Longer operators precede their prefixes.
constexpr std::array operators = {
    binary_operator{"<<", 8}, binary_operator{">>", 8}, binary_operator{"<=", 7},
    binary_operator{">=", 7}, binary_operator{"==", 6}, binary_operator{"!=", 6},
    binary_operator{"&&", 2}, binary_operator{"||", 1}, binary_operator{"<", 7},
    binary_operator{">", 7},  binary_operator{"&", 5},  binary_operator{"^", 4},
    binary_operator{"|", 3},  binary_operator{"+", 9},  binary_operator{"-", 9},
    binary_operator{"*", 10}, binary_operator{"/", 10}, binary_operator{"%", 10},
};
constexpr int multiplicative_precedence = 10, lowest_precedence = 1;

const binary_operator* operator_at(const cursor& at) noexcept {
  if (!at.at(token_kind::punctuation)) return nullptr;
  const std::string_view remaining = at.text().substr(at.current().offset);
  for (const auto& candidate : operators) {
    if (remaining.starts_with(candidate.spelling)) return &candidate;
  }
  return nullptr;
}

double as_double(const constant& value) noexcept {
  switch (value.kind) {
    case form::float_bits:
      return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
    case form::double_bits:
      return std::bit_cast<double>(value.bits);
    default:
      return value.is_unsigned ? static_cast<double>(value.bits)
                               : static_cast<double>(value.as_signed());
  }
}

class expression_parser {
 public:
  explicit expression_parser(cursor& at) : at_{at} {}

  constant conditional() {
    const nesting guard{*this};
    const constant condition = binary(lowest_precedence);
    if (!at_.accept('?')) return condition;
    const constant yes = conditional();
    at_.expect(':', "between the values of ?:");
    const constant no = conditional();
    return integer_of(condition) != 0 ? yes : no;
  }

  constant binary(int lowest) {
    constant lhs = unary();
    for (;;) {
      const binary_operator* const match = operator_at(at_);
      if (match == nullptr || match->precedence < lowest) return lhs;
      for (std::size_t i = 0; i < match->spelling.size(); ++i) at_.advance();
      const constant rhs = binary(match->precedence + 1);
      lhs = apply(match->spelling, lhs, rhs);
    }
  }

 private:
  struct nesting {
    explicit nesting(expression_parser& owner) : depth{owner.depth_} {
      if (++depth > max_depth) owner.at_.fail("expression is nested too deeply");
    }
    ~nesting() { --depth; }
    int& depth;
  };

  std::uint64_t integer_of(const constant& value) const {
    if (value.kind != form::integer) at_.fail("an integer is needed here, not a real number");
    return value.bits;
  }

  constant unary() {
    const nesting guard{*this};
    if (at_.accept('+')) return unary();
    if (at_.accept('-')) return negated(unary());
    if (at_.accept('!')) return {form::integer, false, integer_of(unary()) == 0 ? 1u : 0u};
    if (at_.accept('~')) {
      constant value = unary();
      value.bits = ~integer_of(value);
      return value;
    }
    return primary();
  }

  constant primary() {
    const token t = at_.current();
    switch (t.kind) {
      case token_kind::integer:
        at_.advance();
        return {form::integer, t.is_unsigned, t.value};
      case token_kind::float_bits:
        at_.advance();
        return {form::float_bits, false, t.value};
      case token_kind::double_bits:
        at_.advance();
        return {form::double_bits, false, t.value};
      case token_kind::identifier:
        if (t.text != "WARP_SZ") break;
        at_.advance();
        return {form::integer, false, 32};
      default:
        if (at_.accept('(')) return parenthesized();
    }
    at_.fail_expected("a constant");
  }

  constant parenthesized() {
    if (at_.at_directive(".s64") || at_.at_directive(".u64")) {
      const bool is_unsigned = at_.advance().text == ".u64";
      at_.expect(')', "after a type to convert to");
      return {form::integer, is_unsigned, integer_of(unary())};
    }
    const constant value = conditional();
    at_.expect(')', "after an expression");
    return value;
  }

  static constant negated(constant value) noexcept {
    constexpr std::uint64_t float_sign = 0x8000'0000u, double_sign = 0x8000'0000'0000'0000u;
    switch (value.kind) {
      case form::float_bits:
        value.bits ^= float_sign;
        break;
      case form::double_bits:
        value.bits ^= double_sign;
        break;
      default:
        value.bits = 0 - value.bits;
        value.is_unsigned = value.is_unsigned && value.bits != double_sign;
    }
    return value;
  }

  constant apply(std::string_view op, const constant& lhs, const constant& rhs) const {
    if (lhs.kind != form::integer || rhs.kind != form::integer) {
      return apply_real(op, as_double(lhs), as_double(rhs));
    }
    const bool is_unsigned = lhs.is_unsigned || rhs.is_unsigned;
    if (op == "/" || op == "%") return divided(op, lhs, rhs, is_unsigned);
    if (op == "<<" || op == ">>") return shifted(op, lhs, rhs);
    const std::uint64_t a = lhs.bits, b = rhs.bits;
    if (op == "+") return {form::integer, is_unsigned, a + b};
    if (op == "-") return {form::integer, is_unsigned, a - b};
    if (op == "*") return {form::integer, is_unsigned, a * b};
    if (op == "&") return {form::integer, is_unsigned, a & b};
    if (op == "|") return {form::integer, is_unsigned, a | b};
    if (op == "^") return {form::integer, is_unsigned, a ^ b};
    if (op == "&&") return boolean(a != 0 && b != 0);
    if (op == "||") return boolean(a != 0 || b != 0);
    return is_unsigned ? compared(op, a, b) : compared(op, lhs.as_signed(), rhs.as_signed());
  }

  static constant boolean(bool value) noexcept { return {form::integer, false, value ? 1u : 0u}; }

  template <class T>
  static constant compared(std::string_view op, T a, T b) noexcept {
    if (op == "<") return boolean(a < b);
    if (op == ">") return boolean(a > b);
    if (op == "<=") return boolean(a <= b);
    if (op == ">=") return boolean(a >= b);
    return boolean(op == "==" ? a == b : a != b);
  }

  constant divided(std::string_view op, const constant& lhs, const constant& rhs,
                   bool is_unsigned) const {
    if (rhs.bits == 0) at_.fail("division by zero in a constant expression");
    if (is_unsigned) {
      return {form::integer, true, op == "/" ? lhs.bits / rhs.bits : lhs.bits % rhs.bits};
    }
    // -2^63 / -1 is the only quotient that overflows.
    if (rhs.as_signed() == -1) {
      return {form::integer, false, op == "/" ? 0 - lhs.bits : 0};
    }
    const std::int64_t a = lhs.as_signed(), b = rhs.as_signed();
    return {form::integer, false, static_cast<std::uint64_t>(op == "/" ? a / b : a % b)};
  }

  static constant shifted(std::string_view op, const constant& lhs, const constant& rhs) noexcept {
    const std::uint64_t distance = rhs.bits > 63 ? 64 : rhs.bits;
    constant result = lhs;
    if (op == "<<") {
      result.bits = distance == 64 ? 0 : lhs.bits << distance;
    } else if (lhs.is_unsigned) {
      result.bits = distance == 64 ? 0 : lhs.bits >> distance;
    } else {
      result.bits = static_cast<std::uint64_t>(lhs.as_signed() >> (distance == 64 ? 63 : distance));
    }
    return result;
  }

  constant apply_real(std::string_view op, double a, double b) const {
    double value = 0;
    if (op == "+") {
      value = a + b;
    } else if (op == "-") {
      value = a - b;
    } else if (op == "*") {
      value = a * b;
    } else if (op == "/" && b != 0) {
      value = a / b;
    } else {
      at_.fail("operator '" + std::string{op} + "' does not apply to these real numbers");
    }
    return {form::double_bits, false, std::bit_cast<std::uint64_t>(value)};
  }

  cursor& at_;
  int depth_ = 0;
};

}  // namespace

bool begins_constant(const cursor& at) noexcept {
  switch (at.current().kind) {
    case token_kind::integer:
    case token_kind::float_bits:
    case token_kind::double_bits:
      return true;
    case token_kind::identifier:
      return at.current().text == "WARP_SZ";
    default:
      return at.at('-') || at.at('+') || at.at('~') || at.at('!') || at.at('(');
  }
}

constant parse_constant(cursor& at) { return expression_parser{at}.conditional(); }

constant parse_constant_term(cursor& at) {
  return expression_parser{at}.binary(multiplicative_precedence);
}

std::uint64_t convert_constant(const constant& value, scalar_type type) noexcept {
  const bool is_real = value.kind != form::integer;
  if (type == scalar_type::f32) {
    if (value.kind == form::float_bits) return value.bits;
    return std::bit_cast<std::uint32_t>(static_cast<float>(as_double(value)));
  }
  if (type == scalar_type::f64) return std::bit_cast<std::uint64_t>(as_double(value));
  // An untyped variable stores the bits of a real number.
  if (is_real && value.kind == form::double_bits && size_in_bytes(type) == 4) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(as_double(value)));
  }
  return value.bits;
}

}  // namespace halfwarp::emulator::ptx::syntax
