// SPDX-License-Identifier: Apache-2.0
// Parses variables: prefix words, dimensions, size and layout.
#include "emulator/ptx/syntax/variable.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "emulator/ptx/syntax/constant.hpp"
#include "emulator/ptx/syntax/initializer.hpp"

namespace halfwarp::emulator::ptx::syntax {
namespace {

constexpr std::uint64_t max_variable_bytes = std::uint64_t{1} << 48;  // bytes; no device has more
constexpr std::size_t max_dimensions = 8;

constexpr std::uint64_t aligned(std::uint64_t offset, std::uint32_t alignment) noexcept {
  return (offset + alignment - 1) / alignment * alignment;
}

std::uint32_t parse_alignment(cursor& at) {
  const token position = at.current();
  const std::uint32_t alignment = at.expect_number("an alignment in bytes");
  if (!std::has_single_bit(alignment)) at.fail(position, "alignment is not a power of two");
  return alignment;
}

std::uint8_t vector_width_of(std::string_view word) noexcept {
  if (word == ".v2") return 2;
  if (word == ".v4") return 4;
  if (word == ".v8") return 8;
  return 0;
}

void parse_pointer(cursor& at, variable& v) {
  v.is_pointer = true;
  if (at.at(token_kind::directive)) {
    const state_space space = find_space(at.current().text.substr(1));
    if (space != state_space::generic) {
      v.pointer_space = space;
      at.advance();
    }
  }
  if (at.accept_directive(".align")) v.pointer_alignment = parse_alignment(at);
}

void parse_space(cursor& at, variable& v, state_space space) {
  if (v.space != state_space::generic) at.fail("a declaration can have only one state space");
  v.space = space;
  at.advance();
  if (space == state_space::const_ && at.accept('[')) {  // banks, removed in ISA 2.2
    at.expect_number("a bank of constant memory");
    at.expect(']', "after the bank");
  }
}

// Parses the words before the name: .global .attribute(.managed) .align 8 .v2 .f32
void parse_prefix(cursor& at, variable& v, std::uint32_t& alignment) {
  while (at.at(token_kind::directive)) {
    const std::string_view word = at.current().text;
    const scalar_type type = find_type(word.substr(1));
    const state_space space = find_space(word.substr(1));
    if (type != scalar_type::none) {
      if (v.type != scalar_type::none) at.fail("a declaration can have only one type");
      v.type = type;
      at.advance();
    } else if (space != state_space::generic) {
      parse_space(at, v, space);
    } else if (vector_width_of(word) != 0) {
      v.vector_width = vector_width_of(word);
      at.advance();
    } else if (at.accept_directive(".align")) {
      alignment = parse_alignment(at);
    } else if (at.accept_directive(".ptr")) {
      parse_pointer(at, v);
    } else if (word == ".attribute") {
      v.attributes = parse_attribute(at, v.is_managed);
    } else {
      at.fail("'" + std::string{word} + "' is not allowed in a declaration");
    }
  }
  if (v.type == scalar_type::none) at.fail_expected("a type such as .b32");
}

void parse_dimensions(cursor& at, variable& v) {
  while (at.accept('[')) {
    if (v.dimensions.size() == max_dimensions) at.fail("too many dimensions");
    v.is_array = true;
    if (at.at(']')) {
      if (!v.dimensions.empty()) at.fail("only the first dimension may be open");
      v.is_unsized = true;
      v.dimensions.push_back(0);
    } else {
      const token position = at.current();
      const constant extent = parse_constant(at);
      if (extent.kind != constant::form::integer || extent.is_negative()) {
        at.fail(position, "an array size must be a non-negative integer");
      }
      v.dimensions.push_back(extent.bits);
    }
    at.expect(']', "after an array size");
  }
}

void compute_size(const cursor& at, variable& v, std::uint32_t alignment) {
  v.element_bytes = std::uint64_t{size_in_bytes(v.type)} * v.vector_width;
  v.alignment =
      alignment != 0
          ? alignment
          : static_cast<std::uint32_t>(std::max<std::uint64_t>(std::bit_floor(v.element_bytes), 1));
  std::uint64_t size = v.element_bytes;
  bool is_empty = false;
  for (const std::uint64_t extent : v.dimensions) {
    is_empty = is_empty || extent == 0;
    // An empty or open dimension counts as 1, so that the other dimensions are checked.
    const std::uint64_t factor = std::max<std::uint64_t>(extent, 1);
    if (factor > max_variable_bytes / std::max<std::uint64_t>(size, 1)) {
      at.fail("variable '" + std::string{v.name} + "' is too large");
    }
    size *= factor;
  }
  v.size = is_empty ? 0 : size;
}

variable parse_parameter(cursor& at) {
  variable v;
  std::uint32_t alignment = 0;
  v.line = at.current().line;
  parse_prefix(at, v, alignment);
  if (v.space != state_space::param && v.space != state_space::reg) {
    at.fail_expected("a parameter: .param or .reg");
  }
  v.name = at.at(token_kind::identifier) ? at.advance().text : "_";
  parse_dimensions(at, v);
  compute_size(at, v, alignment);
  return v;
}

}  // namespace

linkage parse_linkage(cursor& at) {
  constexpr std::array words = {
      std::pair{std::string_view{".visible"}, linkage::visible},
      std::pair{std::string_view{".weak"}, linkage::weak},
      std::pair{std::string_view{".extern"}, linkage::extern_},
      std::pair{std::string_view{".common"}, linkage::common},
  };
  for (const auto& [word, link] : words) {
    if (at.accept_directive(word)) return link;
  }
  return linkage::internal;
}

bool begins_variable(std::string_view word) noexcept {
  switch (find_space(word.substr(1))) {
    case state_space::global:
    case state_space::const_:
    case state_space::shared:
    case state_space::local:
    case state_space::param:
    case state_space::tex:
      return true;
    default:
      return false;
  }
}

std::string_view parse_attribute(cursor& at, bool& is_managed) {
  at.advance();
  if (!at.at('(')) at.fail_expected("'(' after .attribute");
  const std::size_t start = at.current().offset;
  at.skip_balanced();
  std::string_view text = at.text_since(start);
  text.remove_prefix(1);
  text = text.substr(0, text.rfind(')'));
  if (text.find(".managed") == text.npos && text.find(".unified") == text.npos)
    at.fail("unknown attribute");
  is_managed = is_managed || text.find(".managed") != std::string_view::npos;
  return text;
}

std::vector<variable> parse_variables(cursor& at, linkage link) {
  variable prototype;
  std::uint32_t alignment = 0;
  prototype.linkage = link;
  prototype.line = at.current().line;
  if (!begins_variable(at.current().text)) at.fail_expected("a state space for variables");
  parse_prefix(at, prototype, alignment);
  std::vector<variable> result;
  do {
    variable v = prototype;
    v.line = at.current().line;
    v.name = at.expect_identifier("the name of a variable");
    parse_dimensions(at, v);
    compute_size(at, v, alignment);
    if (at.accept('=')) parse_initializer(at, v);
    result.push_back(std::move(v));
  } while (at.accept(','));
  at.expect(';', "after a declaration");
  return result;
}

std::vector<variable> parse_parameters(cursor& at) {
  std::vector<variable> result;
  std::uint64_t offset = 0;
  at.expect('(', "before the parameters");
  while (!at.at(')')) {
    variable v = parse_parameter(at);
    offset = aligned(offset, v.alignment);
    v.offset = offset;
    offset += v.size;
    if (offset > max_variable_bytes) at.fail("the parameters are too large");
    result.push_back(std::move(v));
    if (!at.accept(',')) break;
  }
  at.expect(')', "after the parameters");
  return result;
}

parameter_block layout_of(const std::vector<variable>& parameters) noexcept {
  parameter_block block;
  for (const variable& v : parameters) {
    block.alignment = std::max(block.alignment, v.alignment);
    block.bytes = v.offset + v.size;
  }
  return block;
}

}  // namespace halfwarp::emulator::ptx::syntax
