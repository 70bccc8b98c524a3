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
#include "emulator/ptx/verification/form_rules.hpp"

namespace halfwarp::emulator::ptx {
namespace {

constexpr std::uint64_t max_parameter_bytes = 32764;  // bytes, since ISA 8.1

std::string quoted(std::string_view name) { return "'" + std::string{name} + "'"; }

// Constraint on the register widths of an instruction, relative to its type.
enum class widths : std::uint8_t {
  any,       // not checked
  same,      // registers have the width of the type
  at_least,  // loads and stores: registers may be wider than the type
};

struct width_rule {
  opcode op;
  widths rule;
};
constexpr std::array width_rules = {
    width_rule{opcode::abs, widths::same},    width_rule{opcode::add, widths::same},
    width_rule{opcode::and_, widths::same},   width_rule{opcode::div, widths::same},
    width_rule{opcode::fma, widths::same},    width_rule{opcode::ld, widths::at_least},
    width_rule{opcode::max, widths::same},    width_rule{opcode::min, widths::same},
    width_rule{opcode::neg, widths::same},    width_rule{opcode::not_, widths::same},
    width_rule{opcode::or_, widths::same},    width_rule{opcode::rem, widths::same},
    width_rule{opcode::st, widths::at_least}, width_rule{opcode::sub, widths::same},
    width_rule{opcode::xor_, widths::same},
};

widths rule_of(const mnemonic& word) noexcept {
  // Mixed types (add.f32.f16) have one width per operand, and a cache policy has 64 bits.
  if (word.type_count != 1 || word.has(qualifier::L2_cache_hint)) return widths::any;
  for (const width_rule& r : width_rules) {
    if (r.op == word.opcode) return r.rule;
  }
  return widths::any;
}

// Returns what a mnemonic needs beyond the version and target of the module; empty: nothing.
std::string missing_of(const module& m, const mnemonic& word) {
  const since first = first_of(word);
  const std::uint32_t version = 10 * m.version_major + m.version_minor;
  const std::uint32_t target = m.target_architecture();
  if (target && target < first.target) {
    return ".target sm_" + std::to_string(first.target) + " or later, the module has " +
           std::string{m.target};
  }
  if (version >= first.version) return {};
  return ".version " + std::to_string(first.version / 10) + "." +
         std::to_string(first.version % 10) + " or later, the module has " +
         std::to_string(m.version_major) + "." + std::to_string(m.version_minor);
}

class function_verifier {
 public:
  function_verifier(const module& m, const function& f, const std::vector<std::string>& missing,
                    const std::vector<std::string>& problems, std::vector<parse_error>& findings,
                    std::size_t limit)
      : module_{m},
        f_{f},
        missing_{missing},
        problems_{problems},
        findings_{findings},
        limit_{limit} {}

  void run() {
    if (f_.is_entry && !f_.return_parameters.empty()) {
      report(f_.line, "kernel " + quoted(f_.name) + " must not return a value");
    }
    if (f_.is_entry && f_.parameter_bytes > max_parameter_bytes) {
      report(f_.line, "the parameters of kernel " + quoted(f_.name) + " need " +
                          std::to_string(f_.parameter_bytes) + " bytes, the limit is " +
                          std::to_string(max_parameter_bytes));
    }
    for (const target_list& list : f_.target_lists) check_list(list);
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
      return report(i, "'" + std::string{word.text} + "' " + problem);
    }
    const std::size_t before = findings_.size();
    for (const operand& o : f_.operands_of(i)) check_names(i, o);
    if (findings_.size() != before || word.has_unknown_word) return;
    if (const std::string& missing = missing_[i.mnemonic]; !missing.empty()) {
      return report(i, "'" + std::string{word.text} + "' needs " + missing);
    }
    if (const std::string problem = operand_problem(module_, f_, i, word); !problem.empty()) {
      return report(i, "'" + std::string{word.text} + "' " + problem);
    }
    switch (word.opcode) {
      case opcode::bra:
        return check_branch(i);
      case opcode::call:
        return check_call(i);
      case opcode::setp:
        return check_predicate(i, 0);
      case opcode::selp:
        return check_predicate(i, 3);
      default:
        return check_widths(i, word);
    }
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

  // Operands: [results,] function or register, [arguments] [, list or prototype]
  void check_call(const instruction& i) {
    const auto operands = f_.operands_of(i);
    const bool has_results = !operands.empty() && operands[0].kind == operand_kind::list;
    const std::size_t callee = has_results ? 1 : 0;
    if (callee >= operands.size()) return report(i, "'call' has no function operand");
    const operand& target = operands[callee];
    if (target.kind == operand_kind::register_) return;
    if (target.kind != operand_kind::symbol || target.symbol != symbol_kind::function) {
      return report(i, "'call' needs a function or a register");
    }
    const function& called = module_.functions[target.index];
    const bool has_arguments =
        operands.size() > callee + 1 && operands[callee + 1].kind == operand_kind::list;
    check_count(i, called, "arguments", has_arguments ? operands[callee + 1].count : 0,
                called.parameters);
    check_count(i, called, "results", has_results ? operands[0].count : 0,
                called.return_parameters);
  }

  void check_count(const instruction& i, const function& called, const char* noun,
                   std::size_t actual, const std::vector<variable>& declared) {
    const bool is_variadic = !declared.empty() && declared.back().is_unsized;
    if (actual == declared.size() || is_variadic) return;
    report(i, "call of " + quoted(called.name) + " has " + std::to_string(actual) + " " + noun +
                  ", the function has " + std::to_string(declared.size()));
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

  void check_predicate(const instruction& i, std::size_t position) {
    const auto operands = f_.operands_of(i);
    const std::string name{spelling(i.opcode)};
    if (position >= operands.size()) return report(i, "'" + name + "' has too few operands");
    if (!is_predicate(operands[position])) {
      report(i,
             "operand " + std::to_string(position + 1) + " of '" + name + "' is not a predicate");
    }
  }

  void check_widths(const instruction& i, const mnemonic& word) {
    const widths rule = rule_of(word);
    if (rule == widths::any) return;
    for (const operand& o : f_.operands_of(i)) {
      if (o.kind == operand_kind::vector) {
        check_vector(i, word, o);
        for (const operand& e : f_.elements_of(o)) check_width(i, word, rule, e);
      } else {
        check_width(i, word, rule, o);
      }
    }
  }

  void check_vector(const instruction& i, const mnemonic& word, const operand& o) {
    if (o.count == word.vector_width) return;
    report(i, "'" + std::string{word.text} + "' has a vector of " + std::to_string(o.count) +
                  " elements");
  }

  // Integers and floats do not mix; bits go with both.
  static bool is_mixed_with(scalar_type a, scalar_type b) {
    const auto is_integer = [](scalar_type type) {
      const type_class kind = info(type).kind;
      return kind == type_class::unsigned_ || kind == type_class::signed_;
    };
    return (is_floating(a) && is_integer(b)) || (is_integer(a) && is_floating(b));
  }

  void check_width(const instruction& i, const mnemonic& word, widths rule, const operand& o) {
    if (o.kind != operand_kind::register_ || o.component != component::none) return;
    const register_info& r = f_.registers[o.index];
    if (r.vector_width != 1) return;
    const unsigned actual = info(r.type).bits, required = info(word.type()).bits;
    const bool is_mixed = rule == widths::same && is_mixed_with(r.type, word.type());
    if (is_mixed) {
      report(i, "register " + quoted(r.name) + " of type ." + std::string{spelling(r.type)} +
                    " does not fit '" + std::string{word.text} + "'");
      return;
    }
    if (rule == widths::same ? actual == required : actual >= required && actual != 0) return;
    report(i, "register " + quoted(r.name) + " of type ." + std::string{spelling(r.type)} +
                  " does not fit '" + std::string{word.text} + "'");
  }

  const module& module_;
  const function& f_;
  const std::vector<std::string>&missing_, &problems_;  // by mnemonic
  std::vector<parse_error>& findings_;
  std::size_t limit_;
};

class module_verifier {
 public:
  module_verifier(const module& m, std::size_t limit) : module_{m}, limit_{limit} {
    for (const mnemonic& word : m.mnemonics) {
      missing_.push_back(missing_of(m, word));
      problems_.push_back(word_problem(m, word));
    }
  }

  std::vector<parse_error> run() {
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

  void check(const variable& v) {
    check_relocations(v);
    if (v.space == state_space::reg || v.type == scalar_type::pred) {
      report(v.line, "variable " + quoted(v.name) + " cannot be a register of the module");
    }
    const state_space space = without_sub_space(v.space);
    const bool has_memory = space != state_space::local && space != state_space::shared;
    if (v.has_initializer && !has_memory) {
      report(v.line, "variable " + quoted(v.name) + " cannot have an initial value in its space");
    }
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
    for (const variable& v : f.variables) check_relocations(v);
    function_verifier{module_, f, missing_, problems_, findings_, limit_}.run();
  }

  void check_relocations(const variable& v) {
    for (const relocation& r : v.initializer.relocations) {
      if (r.kind == symbol_kind::unresolved) {
        report(r.line,
               "unknown symbol " + quoted(r.name) + " in the initializer of " + quoted(v.name));
      }
    }
  }

  const module& module_;
  std::size_t limit_;
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
