// SPDX-License-Identifier: Apache-2.0
// The operands of an instruction.
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

  // Up to the semicolon, which is not taken. Calls have lists in parentheses; elsewhere a
  // parenthesis begins a constant expression.
  operand_range parse(bool is_call);
  // Index in function::registers; none when the name is not that of a register.
  std::optional<std::uint32_t> register_index(std::string_view name);
  // Operands with a name that may yet be declared: a label, or a symbol of the module.
  std::vector<std::uint32_t>& open_operands() noexcept { return open_; }
  // Forgets what was parsed beyond this many operands.
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
  bool take_special(operand& o);
  void take_component(operand& o, std::size_t end);
  void resolve_local(operand& o);
  void take_index(operand& o);
  std::uint64_t element_bytes(const operand& o) const;
  std::uint64_t offset_terms();
  std::uint32_t flush(std::size_t base);

  cursor& at_;
  const module& owner_;
  function& out_;
  const scopes& names_;
  bool is_call_ = false;
  int depth_ = 0;
  std::vector<operand> scratch_;  // of the brackets that are open, innermost last
  std::vector<std::uint32_t> open_;
  std::unordered_map<std::uint64_t, std::uint32_t> register_indices_;  // declaration, number
};

}  // namespace halfwarp::emulator::ptx::syntax
