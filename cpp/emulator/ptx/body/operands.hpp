// SPDX-License-Identifier: Apache-2.0
// Parses the operands of an instruction.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/body/scope.hpp"
#include "emulator/ptx/syntax/cursor.hpp"

namespace halfwarp::emulator::ptx::syntax {

struct operand_range {
  std::uint32_t first = 0, count = 0;  // function::operands
};

class operand_parser {
 public:
  operand_parser(cursor& at, const module& owner, function& out, const scopes& names)
      : at_{at}, owner_{owner}, out_{out}, names_{names} {}

  // Parses the operands before the semicolon. A parenthesis starts a list in calls, else a constant
  // expression.
  operand_range parse(bool is_call);
  // Returns an index in function::registers, or nullopt if no register has that name.
  std::optional<std::uint32_t> register_index(std::string_view name);
  // Operands whose name may be declared later: a label, or a symbol of the module.
  std::vector<std::uint32_t>& unresolved_operands() noexcept { return unresolved_; }
  // Removes parsed operands beyond this count.
  void truncate(std::size_t operands);

 private:
  operand with_pair();
  operand single();
  operand bracketed();
  operand address_term();
  operand elements(operand_kind kind, char closing);
  operand negated();
  operand not_operand();
  operand constant_operand();
  operand named();
  bool parse_special(operand& o);
  bool parse_lanes(operand& o);
  void parse_component(operand& o, std::size_t end);
  void resolve_local(operand& o);
  void parse_index(operand& o);
  std::uint64_t element_bytes(const operand& o) const;
  std::uint64_t offset_terms();
  std::uint32_t flush(std::size_t base);

  cursor& at_;
  const module& owner_;
  function& out_;
  const scopes& names_;
  bool is_call_ = false;
  int depth_ = 0;
  std::vector<operand> scratch_;  // of the open brackets, innermost last
  std::vector<std::uint32_t> unresolved_;
  std::unordered_map<std::uint64_t, std::uint32_t> register_indices_;  // declaration, number
};

}  // namespace halfwarp::emulator::ptx::syntax
