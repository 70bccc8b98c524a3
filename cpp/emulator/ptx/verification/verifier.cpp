// SPDX-License-Identifier: Apache-2.0
// Checks names first, then the operands of each kind of instruction.
#include "emulator/ptx/verification/verifier.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <unordered_set>
#include <utility>

#include "emulator/ptx/instruction_table.hpp"
#include "emulator/ptx/verification/declaration_rules.hpp"
#include "emulator/ptx/verification/form_rules.hpp"
#include "emulator/ptx/verification/register_rules.hpp"
#include "emulator/ptx/verification/space_rules.hpp"

namespace halfwarp::emulator::ptx {
namespace {

constexpr std::uint64_t max_constant_bytes = 65536;
constexpr std::uint64_t max_parameter_bytes = 32764;  // bytes, since ISA 8.1

std::string quoted(std::string_view name) { return "'" + std::string{name} + "'"; }

class function_verifier {
 public:
  function_verifier(const module& m, const function& f,
                    const std::vector<const instruction_row*>& rows,
                    const std::vector<std::string>& missing,
                    const std::vector<std::string>& problems, std::vector<parse_error>& findings,
                    std::size_t limit)
      : module_{m},
        f_{f},
        rows_{rows},
        missing_{missing},
        problems_{problems},
        findings_{findings},
        limit_{limit} {}

  void run() {
    if (f_.is_entry && f_.parameter_bytes > max_parameter_bytes) {
      report(f_.line, "the parameters of kernel " + quoted(f_.name) + " need " +
                          std::to_string(f_.parameter_bytes) + " bytes, the limit is " +
                          std::to_string(max_parameter_bytes));
    }
    for (const target_list& list : f_.target_lists) check_list(list);
    for (const register_declaration& r : f_.register_declarations) check_vector(r);
    check_groups();
    for (const instruction& i : f_.instructions) {
      if (findings_.size() >= limit_) return;
      check(i);
    }
  }

 private:
  void report(std::uint32_t line, std::string message, std::uint32_t column = 0) {
    if (findings_.size() < limit_) findings_.push_back({line, column, std::move(message)});
  }
  void report_form(const instruction& i, const mnemonic& word, std::string_view problem) {
    report(i, quoted(word.text) + " " + std::string{problem});
  }
  void report(const instruction& i, std::string message) {
    report(i.line, std::move(message), i.column);
  }

  // The instructions of tcgen05 work on a block, or on a pair of blocks.
  void check_groups() {
    bool has_single = false, has_pair = false;
    for (const instruction& i : f_.instructions) {
      if (i.opcode != opcode::tcgen05) continue;
      has_single |= module_.mnemonic_of(i).has(qualifier::cta_group_1);
      has_pair |= module_.mnemonic_of(i).has(qualifier::cta_group_2);
      if (!has_single || !has_pair) continue;
      return report(i, quoted(f_.name) + " has tcgen05 with .cta_group::1 and .cta_group::2");
    }
  }

  void check_vector(const register_declaration& r) {
    const unsigned bits = r.vector_width * info(r.type).bits;
    const bool is_wrong = r.vector_width > 1 && (!bits || bits > 128);
    if (!is_register_type(r.type)) {
      report(r.line, "register " + quoted(r.name) + " has a type of instructions");
    }
    if (is_wrong) report(r.line, "register " + quoted(r.name) + " is no vector of 128 bits");
  }

  void check_list(const target_list& list) {
    for (std::size_t i = 0; i < list.names.size(); ++i) {
      if (list.indices[i] != no_index) continue;
      report(list.line, std::string{list.is_call ? "unknown function " : "unknown label "} +
                            quoted(list.names[i]));
    }
  }

  void check(const instruction& i) {
    if (i.guard != no_index && f_.registers[i.guard].type != scalar_type::pred) {
      report(i, "guard " + quoted(f_.registers[i.guard].name) + " is not a predicate");
    }
    const mnemonic& word = module_.mnemonic_of(i);
    if (const std::string& problem = problems_[i.mnemonic]; !problem.empty()) {
      return report_form(i, word, problem);
    }
    const std::size_t before = findings_.size();
    for (const operand& o : f_.operands_of(i)) check_names(i, o);
    if (findings_.size() != before || word.has_unknown_word) return;
    if (const std::string& missing = missing_[i.mnemonic]; !missing.empty()) {
      return report_form(i, word, "needs " + missing);
    }
    const instruction_row* const row = rows_[i.mnemonic];
    const std::string problem = row ? operand_problem(module_, f_, i, word, *row) : "";
    if (!problem.empty()) return report_form(i, word, problem);
    switch (word.opcode) {
      case opcode::bra:
        return check_branch(i);
      case opcode::call:
        return check_call(i);
      case opcode::brx:
        check_list_of(i);
        break;
      case opcode::setp:
        check_predicate(i, word);
        break;
      default:
        break;
    }
    check_registers(i, word);
  }

  static bool has_elements(const operand& o) noexcept {
    return o.kind == operand_kind::vector || o.kind == operand_kind::pair ||
           o.kind == operand_kind::list || o.kind == operand_kind::address_group;
  }

  void check_names(const instruction& i, const operand& o) {
    if (has_elements(o)) {
      for (const operand& e : f_.elements_of(o)) check_names(i, e);
      return;
    }
    const bool has_symbol = o.kind == operand_kind::symbol ||
                            (o.kind == operand_kind::address && o.base == address_base::symbol);
    if (has_symbol && o.symbol == symbol_kind::unresolved) {
      report(i, "unknown symbol " + quoted(o.name));
    }
  }

  void check_branch(const instruction& i) {
    const auto operands = f_.operands_of(i);
    const bool is_label = operands.size() == 1 && operands[0].kind == operand_kind::symbol &&
                          operands[0].symbol == symbol_kind::label;
    if (!is_label) report(i, "'bra' needs a label");
  }

  void check_list_of(const instruction& i) {
    const auto operands = f_.operands_of(i);
    const bool is_list = operands.size() == 2 && operands[1].kind == operand_kind::symbol &&
                         operands[1].symbol == symbol_kind::target_list;
    if (!is_list) report(i, "'brx.idx' needs a list of .branchtargets");
  }

  // Operands: [results,] function or register, [arguments] [, list or prototype]
  void check_call(const instruction& i) {
    const auto operands = f_.operands_of(i);
    const bool has_results = !operands.empty() && operands[0].kind == operand_kind::list;
    const std::size_t callee = has_results ? 1 : 0;
    if (callee >= operands.size()) return report(i, "'call' has no function operand");
    const operand& target = operands[callee];
    if (target.kind == operand_kind::register_) return check_indirect_call(i, has_results);
    if (target.kind != operand_kind::symbol || target.symbol != symbol_kind::function) {
      return report(i, "'call' needs a function or a register");
    }
    const function& called = module_.functions[target.index];
    const bool has_arguments =
        operands.size() > callee + 1 && operands[callee + 1].kind == operand_kind::list;
    if (called.is_entry) return report(i, "'call' of the kernel " + quoted(called.name));
    check_list(i, called.name, "arguments", has_arguments ? &operands[callee + 1] : nullptr,
               called.parameters);
    check_list(i, called.name, "results", has_results ? &operands[0] : nullptr,
               called.return_parameters);
  }

  // Operands: [results,] register, [arguments,] list or prototype
  void check_indirect_call(const instruction& i, bool has_results) {
    const auto operands = f_.operands_of(i);
    const operand& last = operands.back();
    const auto check = [&](const auto& called) {
      const operand& list = operands[operands.size() - 2];
      check_list(i, called.name, "arguments", list.kind == operand_kind::list ? &list : nullptr,
                 called.parameters);
      check_list(i, called.name, "results", has_results ? &operands[0] : nullptr,
                 called.return_parameters);
    };
    const bool is_symbol = last.kind == operand_kind::symbol && operands.size() > 1;
    if (is_symbol && last.symbol == symbol_kind::prototype) return check(f_.prototypes[last.index]);
    if (!is_symbol || last.symbol != symbol_kind::target_list) {
      return report(i, "'call' of a register needs a prototype or a list of .calltargets");
    }
    for (const std::uint32_t index : f_.target_lists[last.index].indices) {
      if (index < module_.functions.size()) check(module_.functions[index]);
    }
  }

  void check_list(const instruction& i, std::string_view name, const char* noun,
                  const operand* list, const std::vector<variable>& declared) {
    const std::span<const operand> actual =
        list ? f_.elements_of(*list) : std::span<const operand>{};
    const bool is_variadic = !declared.empty() && declared.back().is_unsized;
    if (actual.size() != declared.size() && !is_variadic) {
      return report(i, "call of " + quoted(name) + " has " + std::to_string(actual.size()) + " " +
                           noun + ", the function has " + std::to_string(declared.size()));
    }
    if (const char* const problem = argument_problem(f_, actual, declared)) {
      report(i, "call of " + quoted(name) + " " + problem);
    }
  }

  bool is_predicate(const operand& o) const {
    switch (o.kind) {
      case operand_kind::sink:
        return true;
      case operand_kind::register_:
        return f_.registers[o.index].type == scalar_type::pred;
      case operand_kind::pair:
        return std::ranges::all_of(f_.elements_of(o),
                                   [this](const operand& e) { return is_predicate(e); });
      default:
        return false;
    }
  }

  void check_predicate(const instruction& i, const mnemonic& word) {
    const auto operands = f_.operands_of(i);
    if (operands.empty() || !is_predicate(operands[0])) {
      report_form(i, word, "needs a predicate as operand 1");
    }
  }

  void check_registers(const instruction& i, const mnemonic& word) {
    constexpr opcode accesses[] = {opcode::atom, opcode::ld, opcode::ldu, opcode::red, opcode::st};
    const bool is_access = std::ranges::count(accesses, word.opcode) != 0;
    const std::size_t value = word.opcode == opcode::red || word.opcode == opcode::st;
    if (is_access && word.vector_width > 1 && !word.has(qualifier::async) &&
        f_.operands_of(i)[value].kind != operand_kind::vector) {
      return report_form(i, word, "needs a vector");
    }
    for (const operand& o : f_.operands_of(i)) {
      if (o.kind == operand_kind::special_register) {
        const char* const problem = special_problem(word, o);
        if (problem) return report_form(i, word, problem);
      } else if (is_access && o.kind == operand_kind::vector) {
        const std::string problem = vector_problem(o, word);
        if (!problem.empty()) return report_form(i, word, problem);
      }
    }
    if (const char* const problem = space_problem(module_, f_, i, word)) {
      return report_form(i, word, problem);
    }
    const operand* const wrong = misfit(f_, i, word);
    if (!wrong) return;
    if (wrong->kind != operand_kind::register_) {
      return report_form(i, word, "has a constant of another kind of number");
    }
    const register_info& r = f_.registers[wrong->index];
    report(i, "register " + quoted(r.name) + " of type ." + std::string{spelling(r.type)} +
                  " does not fit " + quoted(word.text));
  }

  std::string vector_problem(const operand& o, const mnemonic& word) const {
    if (o.count != word.vector_width) {
      return "has a vector of " + std::to_string(o.count) + " elements, not " +
             std::to_string(word.vector_width);
    }
    unsigned bits = 0;
    for (const operand& each : f_.elements_of(o)) {
      if (each.kind != operand_kind::register_ || each.component != component::none) continue;
      const unsigned actual = info(f_.registers[each.index].type).bits;
      if (bits && actual != bits) return "has a vector of several widths";
      bits = actual;
    }
    return {};
  }

  const module& module_;
  const function& f_;
  const std::vector<const instruction_row*>& rows_;     // by mnemonic; null: no form
  const std::vector<std::string>&missing_, &problems_;  // by mnemonic
  std::vector<parse_error>& findings_;
  std::size_t limit_;
};

class module_verifier {
 public:
  module_verifier(const module& m, std::size_t limit) : module_{m}, limit_{limit} {
    for (const mnemonic& word : m.mnemonics) {
      rows_.push_back(find_row(word));
      missing_.push_back(missing_of(m, first_on(m, word)));
      problems_.push_back(word_problem(m, word));
    }
  }

  std::vector<parse_error> run() {
    report_if(target_problem(module_), line_of(module_.target), "the target ", module_.target);
    check_aliases();
    std::uint64_t constants = 0;
    for (const variable& v : module_.variables) {
      if (v.space != state_space::const_ || v.linkage == linkage::extern_) continue;
      constants += v.size;
      if (constants > max_constant_bytes) {
        report(v.line, "the variables in .const need more than 65536 bytes");
        break;
      }
    }
    for (const module_item& item : module_.items) {
      if (findings_.size() >= limit_) break;
      if (item.kind == item_kind::unknown) {
        const auto& stray = module_.unknown_directives[item.index];
        report(stray.line, "unknown directive '" + std::string{stray.text} + "'");
      }
      if (item.kind == item_kind::variable) check(module_.variables[item.index]);
      if (item.kind == item_kind::function) check(module_.functions[item.index]);
    }
    return std::move(findings_);
  }

 private:
  void report(std::uint32_t line, std::string message) {
    if (findings_.size() < limit_) findings_.push_back({line, 0, std::move(message)});
  }

  void report_if(const char* problem, std::uint32_t line, const char* noun, std::string_view name) {
    if (problem) report(line, noun + quoted(name) + " " + problem);
  }

  std::uint32_t line_of(std::string_view part) const {
    const std::string_view before{module_.text->data(), part.data()};
    return 1 + static_cast<std::uint32_t>(std::ranges::count(before, '\n'));
  }

  void check_aliases() {
    for (const alias& each : module_.aliases) {
      const bool is_known = module_.find_function(each.name) && module_.find_function(each.target);
      report_if(is_known ? nullptr : "names no two functions", each.line, "alias ", each.name);
    }
  }

  void check(const variable& v) {
    check_relocations(v);
    report_if(variable_problem(v, false), v.line, "variable ", v.name);
    if (v.linkage == linkage::extern_) return;
    const bool is_new = defined_.insert(v.name).second;
    const auto match = module_.symbols.find(v.name);
    const bool is_function =
        match != module_.symbols.end() && match->second.kind == symbol_kind::function;
    if (!is_new || is_function) {
      report(v.line, "variable " + quoted(v.name) + " is defined twice");
    }
  }

  void check(const function& f) {
    if (f.is_definition && !defined_.insert(f.name).second) {
      report(f.line, "function " + quoted(f.name) + " is defined twice");
    }
    for (const variable& v : f.variables) {
      check_relocations(v);
      if (v.space != state_space::param) {
        report_if(variable_problem(v, true), v.line, "variable ", v.name);
      }
    }
    report_if(function_problem(module_, f), f.line, "function ", f.name);
    const function* const known = module_.find_function(f.name);
    if (known && known != &f) {
      report_if(redeclaration_problem(*known, f), f.line, "function ", f.name);
    }
    function_verifier{module_, f, rows_, missing_, problems_, findings_, limit_}.run();
  }

  void check_relocations(const variable& v) {
    for (const relocation& r : v.initializer.relocations) {
      if (r.kind == symbol_kind::unresolved) {
        report(r.line,
               "unknown symbol " + quoted(r.name) + " in the initializer of " + quoted(v.name));
      }
      if (r.kind != symbol_kind::module_variable) continue;
      const state_space space = without_sub_space(module_.variables[r.index].space);
      if (space == state_space::shared || space == state_space::local) {
        report(r.line, "the initializer of " + quoted(v.name) + " has the address of " +
                           quoted(r.name) + ", which is neither in .global nor in .const");
      }
    }
  }

  const module& module_;
  std::size_t limit_;
  std::vector<const instruction_row*> rows_;     // by mnemonic
  std::vector<std::string> missing_, problems_;  // by mnemonic
  std::vector<parse_error> findings_;
  std::unordered_set<std::string_view> defined_;
};

parse_result verified(parse_result parsed) {
  const std::vector<parse_error> findings = verify(*parsed.value);
  if (findings.empty()) return parsed;
  parse_result result;
  for (const parse_error& finding : findings) result.log += finding.to_text() + '\n';
  result.error = findings.front();
  return result;
}

}  // namespace

std::vector<parse_error> verify(const module& m, std::size_t limit) {
  return module_verifier{m, limit}.run();
}

parse_result parse_verified(std::string_view text) noexcept {
  parse_result parsed = parse(text);
  if (!parsed) return parsed;
  try {
    return verified(std::move(parsed));
  } catch (const std::bad_alloc&) {
    return {nullptr, {0, 0, "out of memory"}, {}};
  }
}

}  // namespace halfwarp::emulator::ptx
