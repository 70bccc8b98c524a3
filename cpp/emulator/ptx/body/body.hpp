// SPDX-License-Identifier: Apache-2.0
// Parses the body of a function, including its braces.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "emulator/ptx/ast.hpp"
#include "emulator/ptx/body/operands.hpp"
#include "emulator/ptx/body/scope.hpp"
#include "emulator/ptx/syntax/context.hpp"

namespace halfwarp::emulator::ptx::syntax {

class body_parser {
 public:
  // `index` is the function's index in the module.
  body_parser(context& shared, function& out, std::uint32_t index);

  // Starts at the opening brace. Stops after the closing brace.
  void run();

 private:
  // A name whose declaration may follow: a label, a variable or a function.
  struct pending {
    unresolved_name place;
    std::string_view name;
  };

  void declare_parameters(std::vector<variable>& parameters, name_kind kind);
  void declare(std::string_view name, name_kind kind, std::uint32_t index, const token& at);
  void open_scope();
  void close_scope();
  void statement();
  void directive();
  void registers();
  void variables();
  void location();
  void pragma();
  void label_or_instruction();
  void label_at(const token& name);
  void targets(const token& name);
  void prototype(const token& name);
  void instruction_at(std::size_t start, const token& word, ptx::instruction i);
  void guard(ptx::instruction& i);
  std::string_view full_mnemonic(const token& first);
  void operands(ptx::instruction& i);
  void unknown_directive();
  void collect_unresolved_operands();
  void set_symbol(const pending& p, symbol_kind kind, std::uint32_t index);
  void push(statement_kind kind, std::size_t index);

  context& shared_;
  cursor& at_;
  function& out_;
  std::uint32_t index_;
  scopes names_;
  operand_parser operands_;
  std::vector<pending> pending_;
  std::vector<std::size_t> pending_starts_;  // pending_.size() at the start of each open scope
  std::uint32_t location_ = no_index;
};

}  // namespace halfwarp::emulator::ptx::syntax
