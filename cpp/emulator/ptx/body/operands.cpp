// SPDX-License-Identifier: Apache-2.0
// Parses operands: registers, constants, symbols, addresses and groups of these.
#include "emulator/ptx/body/operands.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "emulator/ptx/syntax/constant.hpp"

namespace halfwarp::emulator::ptx::syntax {
namespace {

constexpr int max_depth = 8;  // nested brackets; real instructions have two levels

constexpr std::array components = {
    std::pair{std::string_view{".x"}, component::x},
    std::pair{std::string_view{".y"}, component::y},
    std::pair{std::string_view{".z"}, component::z},
    std::pair{std::string_view{".w"}, component::w},
    std::pair{std::string_view{".r"}, component::x},
    std::pair{std::string_view{".g"}, component::y},
    std::pair{std::string_view{".b"}, component::z},
    std::pair{std::string_view{".a"}, component::w},
    std::pair{std::string_view{".b0"}, component::b0},
    std::pair{std::string_view{".b1"}, component::b1},
    std::pair{std::string_view{".b2"}, component::b2},
    std::pair{std::string_view{".b3"}, component::b3},
    std::pair{std::string_view{".h0"}, component::h0},
    std::pair{std::string_view{".h1"}, component::h1},
};

// Returns the number in a name such as "envreg12" or "pm3_64", or -1. Sets `family` to the name
// without the number.
int numbered_family(std::string_view name, std::string& family) {
  std::size_t start = 0;
  while (start < name.size() && (name[start] < '0' || name[start] > '9')) ++start;
  int number{};
  const auto parsed = std::from_chars(name.data() + start, name.data() + name.size(), number);
  if (parsed.ec != std::errc{}) return -1;
  family = std::string{name.substr(0, start)} + std::string{parsed.ptr, name.data() + name.size()};
  return number;
}

// Checks whether an undeclared name after a percent sign may be a special register of a newer PTX.
// Names of ordinary registers from compilers consist of one to three letters and a number.
bool may_be_special(std::string_view name) noexcept {
  return name.find_first_of("0123456789") > 3 && name.size() > 3;
}

bool is_label_or_unknown(const operand& o) noexcept {
  const bool has_symbol = o.kind == operand_kind::symbol ||
                          (o.kind == operand_kind::address && o.base == address_base::symbol);
  return has_symbol && o.symbol == symbol_kind::unresolved;
}

}  // namespace

operand_range operand_parser::parse(bool is_call) {
  is_call_ = is_call;
  scratch_.clear();
  depth_ = 0;
  if (!at_.at(';')) {
    do {
      scratch_.push_back(with_pair());
    } while (at_.accept(','));
  }
  const auto count = static_cast<std::uint32_t>(scratch_.size());
  return {flush(0), count};
}

void operand_parser::truncate(std::size_t operands) {
  out_.operands.resize(operands);
  while (!unresolved_.empty() && unresolved_.back() >= operands) unresolved_.pop_back();
}

std::uint32_t operand_parser::flush(std::size_t base) {
  const auto first = static_cast<std::uint32_t>(out_.operands.size());
  for (std::size_t i = base; i < scratch_.size(); ++i) {
    if (is_label_or_unknown(scratch_[i])) {
      unresolved_.push_back(static_cast<std::uint32_t>(out_.operands.size()));
    }
    out_.operands.push_back(scratch_[i]);
  }
  scratch_.resize(base);
  return first;
}

operand operand_parser::with_pair() {
  const operand first = single();
  if (!at_.at('|')) return first;
  const std::size_t base = scratch_.size();
  scratch_.push_back(first);
  at_.advance();
  scratch_.push_back(single());
  operand pair;
  pair.kind = operand_kind::pair;
  pair.count = static_cast<std::uint32_t>(scratch_.size() - base);
  pair.index = flush(base);
  return pair;
}

operand operand_parser::elements(operand_kind kind, char closing) {
  if (++depth_ > max_depth) at_.fail("brackets are nested too deeply");
  at_.advance();
  const std::size_t base = scratch_.size();
  while (!at_.at(closing)) {
    scratch_.push_back(with_pair());
    if (!at_.accept(',')) break;
  }
  at_.expect(closing, "after the last element");
  --depth_;
  operand group;
  group.kind = kind;
  group.count = static_cast<std::uint32_t>(scratch_.size() - base);
  group.index = flush(base);
  return group;
}

operand operand_parser::single() {
  if (at_.at(token_kind::identifier) && !at_.at_identifier("WARP_SZ")) return named();
  if (at_.at('[')) return bracketed();
  if (at_.at('{')) return elements(operand_kind::vector, '}');
  if (at_.at('(') && is_call_) return elements(operand_kind::list, ')');
  if (at_.at('!')) return not_operand();
  if (at_.at('-')) return negated();
  if (begins_constant(at_)) return constant_operand();
  at_.fail_expected("an operand");
}

operand operand_parser::not_operand() {
  const cursor before = at_;
  at_.advance();
  if (!at_.at(token_kind::identifier)) {
    at_ = before;
    return constant_operand();
  }
  operand o = named();
  if (o.kind == operand_kind::sink) at_.fail("'_' has no value to negate");
  o.is_negated = true;
  return o;
}

operand operand_parser::negated() {
  const cursor before = at_;
  at_.advance();
  if (!at_.at(token_kind::identifier) || at_.at_identifier("WARP_SZ")) {
    at_ = before;
    return constant_operand();
  }
  operand o = named();
  if (o.kind != operand_kind::register_) at_.fail("only a register may have a sign");
  o.is_negated = true;
  return o;
}

operand operand_parser::constant_operand() {
  const constant value = parse_constant(at_);
  operand o;
  o.kind = value.kind == constant::form::integer      ? operand_kind::integer
           : value.kind == constant::form::float_bits ? operand_kind::float_bits
                                                      : operand_kind::double_bits;
  o.value = value.as_signed();
  o.is_negative = value.is_negative();
  return o;
}

operand operand_parser::bracketed() {
  if (++depth_ > max_depth) at_.fail("brackets are nested too deeply");
  at_.advance();
  const operand first = address_term();
  operand result = first;
  if (at_.at(',')) {
    const std::size_t base = scratch_.size();
    scratch_.push_back(first);
    while (at_.accept(',')) scratch_.push_back(at_.at('{') ? single() : address_term());
    result = {};
    result.kind = operand_kind::address_group;
    result.count = static_cast<std::uint32_t>(scratch_.size() - base);
    result.index = flush(base);
  }
  at_.expect(']', "after an address");
  if (at_.at_directive(".unified")) at_.advance();
  --depth_;
  return result;
}

operand operand_parser::address_term() {
  operand o;
  if (at_.at(token_kind::identifier) && !at_.at_identifier("WARP_SZ")) {
    o = named();
    switch (o.kind) {
      case operand_kind::register_:
        o.base = address_base::register_;
        o.value = static_cast<std::int64_t>(offset_terms());
        break;
      case operand_kind::symbol:
        o.base = address_base::symbol;
        break;
      case operand_kind::special_register:
        o.base = address_base::special_register;
        break;
      default:
        at_.fail("not an address");
    }
  } else {
    const constant value = parse_constant(at_);
    if (value.kind != constant::form::integer) at_.fail("an address is not a real number");
    o.value = value.as_signed();
  }
  o.kind = operand_kind::address;
  return o;
}

std::uint64_t operand_parser::offset_terms() {
  std::uint64_t offset = 0;
  while (at_.at('+') || at_.at('-')) {
    const bool is_minus = at_.advance().text == "-";
    const constant term = parse_constant_term(at_);
    if (term.kind != constant::form::integer) at_.fail("an offset is not a real number");
    offset += is_minus ? 0 - term.bits : term.bits;
  }
  return offset;
}

operand operand_parser::named() {
  const token word = at_.advance();
  operand o;
  o.name = word.text;
  if (word.text == "_") return o;
  const auto index = register_index(word.text);
  if (index) {
    o.kind = operand_kind::register_;
    o.index = *index;
    parse_component(o, word.offset + word.text.size());
  } else if (parse_special(o)) {
    parse_component(o, word.offset + word.text.size());
  } else {
    o.kind = operand_kind::symbol;
    resolve_local(o);
    if (at_.at('[')) parse_index(o);
    o.value += static_cast<std::int64_t>(offset_terms());
  }
  return o;
}

std::optional<std::uint32_t> operand_parser::register_index(std::string_view name) {
  const auto match = names_.find_register(name);
  if (!match) return std::nullopt;
  const std::uint64_t key = std::uint64_t{match->declaration} << 32 | match->number;
  const auto [place, is_new] =
      register_indices_.try_emplace(key, static_cast<std::uint32_t>(out_.registers.size()));
  if (is_new) {
    const auto& declaration = out_.register_declarations[match->declaration];
    out_.registers.push_back(
        {name, match->declaration, match->number, declaration.type, declaration.vector_width});
  }
  return place->second;
}

bool operand_parser::parse_special(operand& o) {
  if (o.name.front() != '%') return false;
  const std::string_view name = o.name.substr(1);
  o.special = find_special_register(name);
  if (o.special == special_register::unknown) {
    std::string family;
    const int number = numbered_family(name, family);
    if (family.ends_with('_')) family.pop_back();  // reserved_smem_offset_1
    o.special = find_special_register(family);
    const bool is_numbered =
        o.special == special_register::envreg || o.special == special_register::pm ||
        o.special == special_register::pm_64 || o.special == special_register::reserved_smem_offset;
    if (number < 0 || !is_numbered) {
      o.special = special_register::unknown;
      if (!may_be_special(name)) return false;
    } else {
      o.value = number;
    }
  }
  o.kind = operand_kind::special_register;
  return true;
}

// Parses a selector of two to four lanes, such as ".h10" and ".b7531".
bool operand_parser::parse_lanes(operand& o) {
  const std::string_view word = at_.current().text;
  const std::string_view digits = word.size() < 4 ? std::string_view{} : word.substr(2);
  const bool is_bytes = word.starts_with(".b");
  if (!is_bytes && !word.starts_with(".h")) return false;
  const char last = is_bytes ? '7' : '3';
  if (digits.empty() || digits.size() > (is_bytes ? 4u : 2u)) return false;
  std::uint16_t lanes = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > last) return false;
    lanes = static_cast<std::uint16_t>(lanes << 4 | (digit - '0'));
  }
  o.component = component::lanes;
  o.value = lane_selector{is_bytes, static_cast<int>(digits.size()), lanes}.value();
  at_.advance();
  return true;
}

void operand_parser::parse_component(operand& o, std::size_t end) {
  if (!at_.at(token_kind::directive) || !at_.is_adjacent_to(end)) return;
  for (const auto& [word, value] : components) {
    if (!at_.at_directive(word)) continue;
    o.component = value;
    at_.advance();
    return;
  }
  if (parse_lanes(o)) return;
  at_.fail_expected("a component such as .x");
}

void operand_parser::resolve_local(operand& o) {
  const auto match = names_.find(o.name);
  // A later declaration in an inner scope may hide a label, so labels are resolved at scope end.
  if (!match || match->kind == name_kind::label) return;
  o.symbol = as_symbol_kind(match->kind);
  o.index = match->index;
}

std::uint64_t operand_parser::element_bytes(const operand& o) const {
  switch (o.symbol) {
    case symbol_kind::local_variable:
      return out_.variables[o.index].element_bytes;
    case symbol_kind::parameter:
      return out_.parameters[o.index].element_bytes;
    default:
      const variable* const match = owner_.find_variable(o.name);
      return match == nullptr ? 0 : match->element_bytes;
  }
}

// Parses an element index as in "table[3]" and adds its byte offset.
void operand_parser::parse_index(operand& o) {
  const std::uint64_t size = element_bytes(o);
  if (size == 0) at_.fail("'" + std::string{o.name} + "' is not an array");
  at_.advance();
  const constant index = parse_constant(at_);
  if (index.kind != constant::form::integer) at_.fail("an array index is not a real number");
  at_.expect(']', "after an array index");
  o.value = static_cast<std::int64_t>(index.bits * size);
}

}  // namespace halfwarp::emulator::ptx::syntax
