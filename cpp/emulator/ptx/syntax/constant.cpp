// SPDX-License-Identifier: Apache-2.0
// Constant expressions by precedence climbing.
#include "emulator/ptx/syntax/constant.hpp"

#include <array>
#include <bit>
#include <limits>
#include <string_view>

namespace halfwarp::emulator::ptx::syntax {
namespace {

using sort = constant::sort;

constexpr int deepest = 64;  // nesting; hostile text must not exhaust the stack

struct binary_operator {
  std::string_view spelling;
  int precedence;  // higher binds tighter
};

// Longer spellings before their prefixes.
constexpr std::array operators = {
    binary_operator{"<<", 8}, binary_operator{">>", 8}, binary_operator{"<=", 7},
    binary_operator{">=", 7}, binary_operator{"==", 6}, binary_operator{"!=", 6},
    binary_operator{"&&", 2}, binary_operator{"||", 1}, binary_operator{"<", 7},
    binary_operator{">", 7},  binary_operator{"&", 5},  binary_operator{"^", 4},
    binary_operator{"|", 3},  binary_operator{"+", 9},  binary_operator{"-", 9},
    binary_operator{"*", 10}, binary_operator{"/", 10}, binary_operator{"%", 10},
};
constexpr int tightest = 10, loosest = 1;

const binary_operator* operator_at(const cursor& at) noexcept {
  if (!at.at(token_kind::punctuation)) return nullptr;
  const std::string_view rest = at.text().substr(at.current().offset);
  for (const auto& candidate : operators) {
    if (rest.starts_with(candidate.spelling)) return &candidate;
  }
  return nullptr;
}

double as_double(const constant& value) noexcept {
  switch (value.kind) {
    case sort::float_bits:
      return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
    case sort::double_bits:
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
    const constant condition = binary(loosest);
    if (!at_.accept('?')) return condition;
    const constant yes = conditional();
    at_.expect(':', "between the values of ?:");
    const constant no = conditional();
    return integer_of(condition) != 0 ? yes : no;
  }

  constant binary(int lowest) {
    constant left = unary();
    for (;;) {
      const binary_operator* const found = operator_at(at_);
      if (found == nullptr || found->precedence < lowest) return left;
      for (std::size_t i = 0; i < found->spelling.size(); ++i) at_.take();
      const constant right = binary(found->precedence + 1);
      left = apply(found->spelling, left, right);
    }
  }

 private:
  struct nesting {
    explicit nesting(expression_parser& owner) : depth{owner.depth_} {
      if (++depth > deepest) owner.at_.fail("expression is nested too deeply");
    }
    ~nesting() { --depth; }
    int& depth;
  };

  std::uint64_t integer_of(const constant& value) const {
    if (value.kind != sort::integer) at_.fail("an integer is needed here, not a real number");
    return value.bits;
  }

  constant unary() {
    const nesting guard{*this};
    if (at_.accept('+')) return unary();
    if (at_.accept('-')) return negated(unary());
    if (at_.accept('!')) return {sort::integer, false, integer_of(unary()) == 0 ? 1u : 0u};
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
        at_.take();
        return {sort::integer, t.is_unsigned, t.value};
      case token_kind::float_bits:
        at_.take();
        return {sort::float_bits, false, t.value};
      case token_kind::double_bits:
        at_.take();
        return {sort::double_bits, false, t.value};
      case token_kind::identifier:
        if (t.text != "WARP_SZ") break;
        at_.take();
        return {sort::integer, false, 32};
      default:
        if (at_.accept('(')) return parenthesised();
    }
    at_.fail_expected("a constant");
  }

  constant parenthesised() {
    if (at_.at_directive(".s64") || at_.at_directive(".u64")) {
      const bool is_unsigned = at_.take().text == ".u64";
      at_.expect(')', "after a type to convert to");
      return {sort::integer, is_unsigned, integer_of(unary())};
    }
    const constant value = conditional();
    at_.expect(')', "after an expression");
    return value;
  }

  static constant negated(constant value) noexcept {
    constexpr std::uint64_t float_sign = 0x8000'0000u, double_sign = 0x8000'0000'0000'0000u;
    switch (value.kind) {
      case sort::float_bits:
        value.bits ^= float_sign;
        break;
      case sort::double_bits:
        value.bits ^= double_sign;
        break;
      default:
        value.bits = 0 - value.bits;
        value.is_unsigned = value.is_unsigned && value.bits != double_sign;
    }
    return value;
  }

  constant apply(std::string_view op, const constant& left, const constant& right) const {
    if (left.kind != sort::integer || right.kind != sort::integer) {
      return apply_real(op, as_double(left), as_double(right));
    }
    const bool is_unsigned = left.is_unsigned || right.is_unsigned;
    if (op == "/" || op == "%") return divided(op, left, right, is_unsigned);
    if (op == "<<" || op == ">>") return shifted(op, left, right);
    const std::uint64_t a = left.bits, b = right.bits;
    if (op == "+") return {sort::integer, is_unsigned, a + b};
    if (op == "-") return {sort::integer, is_unsigned, a - b};
    if (op == "*") return {sort::integer, is_unsigned, a * b};
    if (op == "&") return {sort::integer, is_unsigned, a & b};
    if (op == "|") return {sort::integer, is_unsigned, a | b};
    if (op == "^") return {sort::integer, is_unsigned, a ^ b};
    if (op == "&&") return truth(a != 0 && b != 0);
    if (op == "||") return truth(a != 0 || b != 0);
    return is_unsigned ? compared(op, a, b) : compared(op, left.as_signed(), right.as_signed());
  }

  static constant truth(bool value) noexcept { return {sort::integer, false, value ? 1u : 0u}; }

  template <class T>
  static constant compared(std::string_view op, T a, T b) noexcept {
    if (op == "<") return truth(a < b);
    if (op == ">") return truth(a > b);
    if (op == "<=") return truth(a <= b);
    if (op == ">=") return truth(a >= b);
    return truth(op == "==" ? a == b : a != b);
  }

  constant divided(std::string_view op, const constant& left, const constant& right,
                   bool is_unsigned) const {
    if (right.bits == 0) at_.fail("division by zero in a constant expression");
    if (is_unsigned) {
      return {sort::integer, true, op == "/" ? left.bits / right.bits : left.bits % right.bits};
    }
    // The one quotient that does not fit: -2^63 / -1.
    if (right.as_signed() == -1) {
      return {sort::integer, false, op == "/" ? 0 - left.bits : 0};
    }
    const std::int64_t a = left.as_signed(), b = right.as_signed();
    return {sort::integer, false, static_cast<std::uint64_t>(op == "/" ? a / b : a % b)};
  }

  static constant shifted(std::string_view op, const constant& left,
                          const constant& right) noexcept {
    const std::uint64_t distance = right.bits > 63 ? 64 : right.bits;
    constant result = left;
    if (op == "<<") {
      result.bits = distance == 64 ? 0 : left.bits << distance;
    } else if (left.is_unsigned) {
      result.bits = distance == 64 ? 0 : left.bits >> distance;
    } else {
      result.bits =
          static_cast<std::uint64_t>(left.as_signed() >> (distance == 64 ? 63 : distance));
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
    return {sort::double_bits, false, std::bit_cast<std::uint64_t>(value)};
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

constant parse_constant_term(cursor& at) { return expression_parser{at}.binary(tightest); }

std::uint64_t convert_constant(const constant& value, scalar_type type) noexcept {
  const bool is_real = value.kind != sort::integer;
  if (type == scalar_type::f32) {
    if (value.kind == sort::float_bits) return value.bits;
    return std::bit_cast<std::uint32_t>(static_cast<float>(as_double(value)));
  }
  if (type == scalar_type::f64) return std::bit_cast<std::uint64_t>(as_double(value));
  // Bits of a real number in an untyped variable: as written.
  if (is_real && value.kind == sort::double_bits && size_in_bytes(type) == 4) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(as_double(value)));
  }
  return value.bits;
}

}  // namespace halfwarp::emulator::ptx::syntax
