// SPDX-License-Identifier: Apache-2.0
// Converts initializers to bytes and relocations.
#include "emulator/ptx/syntax/initializer.hpp"

#include <algorithm>
#include <bit>

#include "emulator/ptx/syntax/constant.hpp"

namespace halfwarp::emulator::ptx::syntax {
namespace {

class initializer_parser {
 public:
  initializer_parser(cursor& at, variable& v)
      : at_{at}, v_{v}, scalar_bytes_{size_in_bytes(v.type)}, extents_{v.dimensions} {
    if (v.vector_width > 1) extents_.push_back(v.vector_width);
    strides_.assign(extents_.size() + 1, 1);
    for (std::size_t i = extents_.size(); i > 0; --i) {
      strides_[i - 1] = strides_[i] * std::max<std::uint64_t>(extents_[i - 1], 1);
    }
  }

  void run() {
    if (scalar_bytes_ == 0) at_.fail("a variable of this type cannot have an initializer");
    limit_ = v_.is_unsized ? no_limit : v_.size / scalar_bytes_;
    if (at_.at('{')) {
      if (extents_.empty()) extents_.push_back(1), strides_.push_back(1);
      level(0);
    } else {
      if (v_.is_array) at_.fail("an array needs its values in braces");
      item();
    }
    v_.has_initializer = true;
    if (v_.is_unsized) infer_size();
  }

 private:
  static constexpr std::uint64_t no_limit = ~std::uint64_t{0};
  // Sub-lists may skip elements. The limit keeps skipped bytes proportional to the text.
  static constexpr std::uint64_t free_bytes = 16u << 20, bytes_per_character = 16;

  void level(std::size_t depth) {
    if (depth >= extents_.size()) at_.fail("more braces than the variable has dimensions");
    const std::uint64_t start = position_;
    at_.expect('{', "before the values");
    while (!at_.at('}')) {
      if (at_.at('{')) {
        level(depth + 1);
      } else {
        item();
      }
      if (!at_.accept(',')) break;
    }
    at_.expect('}', "after the values");
    const std::uint64_t end = start + strides_[depth];
    if (depth > 0 && position_ > end) at_.fail("more values than the sub-array has elements");
    if (depth > 0) position_ = end;
  }

  void item() {
    if (position_ >= limit_) at_.fail("more values than the variable has elements");
    if (at_.at(token_kind::identifier) && !at_.at_identifier("WARP_SZ")) {
      address(0);
    } else {
      const constant value = parse_constant(at_);
      if (at_.at('(')) {
        at_.advance();
        address(value.bits);
        at_.expect(')', "after a masked address");
      } else {
        const bool is_real = value.kind != constant::form::integer;
        if (!is_real && is_floating(v_.type)) at_.fail("an integer cannot initialize a float");
        if (is_real && !accepts_real()) {
          at_.fail("a real number cannot initialize a variable of type " +
                   std::string{spelling(v_.type)});
        }
        put(convert_constant(value, v_.type));
      }
    }
    ++position_;
  }

  bool accepts_real() const noexcept {
    return v_.type == scalar_type::f32 || v_.type == scalar_type::f64 ||
           v_.type == scalar_type::b16 || v_.type == scalar_type::b32 ||
           v_.type == scalar_type::b64;
  }

  void address(std::uint64_t mask) {
    if (scalar_bytes_ > sizeof(std::uint64_t) || (!mask && scalar_bytes_ < 4)) {
      at_.fail("an address cannot initialize a variable of type " + std::string{spelling(v_.type)});
    }
    relocation added;
    added.offset = position_ * scalar_bytes_;
    added.size = static_cast<std::uint8_t>(scalar_bytes_);
    added.mask = mask;
    added.line = at_.current().line;
    added.name = at_.expect_identifier("a symbol");
    if (added.name == "generic" && at_.accept('(')) {
      added.is_generic = true;
      added.name = at_.expect_identifier("a symbol");
      at_.expect(')', "after generic(symbol");
    }
    std::uint64_t addend = 0;
    while (at_.at('+') || at_.at('-')) {
      const bool is_minus = at_.advance().text == "-";
      const std::uint64_t term = parse_constant_term(at_).bits;
      addend += is_minus ? 0 - term : term;
    }
    added.addend = static_cast<std::int64_t>(addend);
    put(0);
    v_.initializer.relocations.push_back(added);
  }

  void put(std::uint64_t bits) {
    const std::uint64_t offset = position_ * scalar_bytes_;
    auto& bytes = v_.initializer.bytes;
    if (offset > free_bytes + bytes_per_character * at_.text().size()) {
      at_.fail("the braces skip over too many elements");
    }
    bytes.resize(std::max<std::size_t>(bytes.size(), offset + scalar_bytes_));
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(scalar_bytes_, 8); ++i) {
      bytes[offset + i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
  }

  void infer_size() {
    const std::uint64_t row = strides_[1];  // an array has at least two strides
    const std::uint64_t rows = (position_ + row - 1) / row;
    v_.dimensions.front() = rows;
    v_.size = rows * row * scalar_bytes_;
    v_.is_unsized = false;
  }

  cursor& at_;
  variable& v_;
  std::uint32_t scalar_bytes_;
  std::vector<std::uint64_t> extents_;  // elements per dimension, vector width last
  std::vector<std::uint64_t> strides_;  // scalars per level of braces
  std::uint64_t limit_ = 0;             // total scalars
  std::uint64_t position_ = 0;          // in scalars
};

}  // namespace

void parse_initializer(cursor& at, variable& v) {
  if (v.space != state_space::global && v.space != state_space::const_) {
    at.fail("only a variable in .global or .const can have an initializer");
  }
  const bool is_opaque = info(v.type).kind == type_class::opaque;
  if (is_opaque && at.at('{')) {
    const std::size_t start = at.current().offset;
    at.skip_balanced();
    v.attributes = at.text_since(start);
    return;
  }
  initializer_parser{at, v}.run();
}

}  // namespace halfwarp::emulator::ptx::syntax
