// SPDX-License-Identifier: Apache-2.0
// Parses the statements of a function body.
#include "emulator/ptx/body/body.hpp"

#include <utility>

#include "emulator/ptx/syntax/variable.hpp"

namespace halfwarp::emulator::ptx::syntax {
namespace {

constexpr std::size_t max_depth = 256;  // nested blocks; each close scans all unresolved names

}  // namespace

body_parser::body_parser(context& shared, function& out, std::uint32_t index)
    : shared_{shared},
      at_{shared.at},
      out_{out},
      index_{index},
      operands_{shared.at, shared.out, out, names_} {}

void body_parser::push(statement_kind kind, std::size_t index) {
  out_.statements.push_back({kind, static_cast<std::uint32_t>(index)});
}

void body_parser::run() {
  names_.open();
  declare_parameters(out_.return_parameters, name_kind::return_parameter);
  declare_parameters(out_.parameters, name_kind::parameter);
  const token opening = at_.current();
  at_.expect('{', "before the body of a function");
  names_.open();
  pending_starts_.push_back(0);
  while (!pending_starts_.empty()) {
    if (at_.at(token_kind::end)) {
      at_.fail(opening, "the body of '" + std::string{out_.name} + "' has no closing brace");
    }
    statement();
  }
  for (const pending& p : pending_) shared_.unresolved_names.push_back(p.place);
}

void body_parser::declare(std::string_view name, name_kind kind, std::uint32_t index,
                          const token& at) {
  if (names_.declare(name, kind, index)) return;
  at_.fail(at, "'" + std::string{name} + "' is declared twice in the same scope");
}

void body_parser::declare_parameters(std::vector<variable>& parameters, name_kind kind) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    variable& v = parameters[i];
    if (v.name == "_") continue;
    if (v.space != state_space::reg) {
      declare(v.name, kind, static_cast<std::uint32_t>(i), at_.current());
      continue;
    }
    const auto declaration = static_cast<std::uint32_t>(out_.register_declarations.size());
    out_.register_declarations.push_back({v.name, v.type, v.vector_width, false, 1, v.line});
    declare(v.name, name_kind::register_, declaration, at_.current());
    v.register_index = operands_.register_index(v.name).value_or(no_index);
  }
}

void body_parser::open_scope() {
  if (pending_starts_.size() >= max_depth) at_.fail("blocks are nested too deeply");
  at_.advance();
  names_.open();
  pending_starts_.push_back(pending_.size());
  push(statement_kind::scope_begin, 0);
}

void body_parser::set_symbol(const pending& p, symbol_kind kind, std::uint32_t index) {
  if (kind == symbol_kind::label) out_.labels[index].is_referenced = true;
  if (p.place.operand != no_index) {
    out_.operands[p.place.operand].symbol = kind;
    out_.operands[p.place.operand].index = index;
  } else if (kind == symbol_kind::label) {
    out_.target_lists[p.place.list].indices[p.place.element] = index;
  }
}

// Resolves names that the closing scope declares. Other names wait for the enclosing scope.
void body_parser::close_scope() {
  at_.advance();
  const std::size_t start = pending_starts_.back();
  std::size_t unresolved = start;
  for (std::size_t i = start; i < pending_.size(); ++i) {
    const auto match = names_.find(pending_[i].name);
    if (match && match->depth == names_.depth()) {
      set_symbol(pending_[i], as_symbol_kind(match->kind), match->index);
    } else {
      pending_[unresolved++] = pending_[i];
    }
  }
  pending_.resize(unresolved);
  pending_starts_.pop_back();
  names_.close();
  if (!pending_starts_.empty()) push(statement_kind::scope_end, 0);
}

void body_parser::statement() {
  switch (at_.current().kind) {
    case token_kind::directive:
      return directive();
    case token_kind::identifier:
      return label_or_instruction();
    default:
      break;
  }
  if (at_.at('@')) return label_or_instruction();
  if (at_.at('{')) return open_scope();
  if (at_.at('}')) return close_scope();
  if (!at_.accept(';')) at_.fail_expected("a statement");
}

void body_parser::directive() {
  const std::string_view word = at_.current().text;
  if (word == ".reg") return registers();
  if (word == ".loc") return location();
  if (word == ".pragma") return pragma();
  if (begins_variable(word)) return variables();
  if (word == ".extern") return variables();
  if (word == ".branchtargets" || word == ".calltargets" || word == ".callprototype") {
    at_.fail("'" + std::string{word} + "' needs a label before it");
  }
  unknown_directive();
}

void body_parser::registers() {
  at_.advance();
  register_declaration pattern;
  pattern.line = at_.current().line;
  while (at_.at(token_kind::directive)) {
    const std::string_view word = at_.advance().text;
    const scalar_type type = find_type(word.substr(1));
    if (type != scalar_type::none) {
      pattern.type = type;
    } else if (word == ".v2" || word == ".v4" || word == ".v8") {
      pattern.vector_width = static_cast<std::uint8_t>(word.back() - '0');
    } else {
      at_.fail("'" + std::string{word} + "' is not allowed in a declaration of registers");
    }
  }
  if (pattern.type == scalar_type::none) at_.fail_expected("a type such as .b32");
  do {
    const token name = at_.current();
    register_declaration added = pattern;
    added.name = at_.expect_identifier("the name of a register");
    const auto declaration = static_cast<std::uint32_t>(out_.register_declarations.size());
    if (at_.accept('<')) {
      added.is_range = true;
      added.count = at_.expect_number("a number of registers");
      at_.expect('>', "after a number of registers");
      if (!names_.declare_range(added.name, added.count, declaration)) {
        at_.fail(name, "'" + std::string{added.name} + "' is declared twice in the same scope");
      }
    } else {
      declare(added.name, name_kind::register_, declaration, name);
    }
    push(statement_kind::registers, declaration);
    out_.register_declarations.push_back(added);
  } while (at_.accept(','));
  at_.expect(';', "after a declaration of registers");
}

void body_parser::variables() {
  const token start = at_.current();
  const linkage link = parse_linkage(at_);
  for (variable& v : parse_variables(at_, link)) {
    declare(v.name, name_kind::local_variable, static_cast<std::uint32_t>(out_.variables.size()),
            start);
    push(statement_kind::variable, out_.variables.size());
    out_.variables.push_back(std::move(v));
  }
}

void body_parser::location() {
  const std::uint32_t line = at_.advance().line;
  const auto number = [&] {
    return at_.current().line == line ? at_.expect_number("a number of .loc") : 0;
  };
  source_location l;
  l.file = number();
  l.line = number();
  l.column = number();
  const auto is_here = [&] { return at_.current().line == line; };
  if (is_here() && at_.accept(',') && is_here() && at_.accept_identifier("function_name")) {
    l.function_name = at_.expect_identifier("the label of a function name");
    while (is_here() && !at_.at(token_kind::end) && !at_.at_identifier("inlined_at")) at_.advance();
    if (is_here() && at_.accept_identifier("inlined_at")) {
      l.inlined_file = number();
      l.inlined_line = number();
      l.inlined_column = number();
    }
  }
  while (is_here() && !at_.at(token_kind::end)) at_.advance();
  location_ = static_cast<std::uint32_t>(out_.locations.size());
  push(statement_kind::location, location_);
  out_.locations.push_back(l);
}

void body_parser::pragma() {
  at_.advance();
  if (!at_.at(token_kind::string)) at_.fail_expected("the string of a pragma");
  do {
    push(statement_kind::pragma, out_.pragmas.size());
    out_.pragmas.push_back(at_.advance().text);
  } while (at_.accept(',') && at_.at(token_kind::string));
  at_.expect(';', "after a pragma");
}

// Records the directive as an unknown instruction, so that kernels that reach it are refused.
void body_parser::unknown_directive() {
  instruction i;
  i.line = at_.current().line;
  i.column = at_.current().column;
  i.location = location_;
  i.mnemonic = shared_.intern(at_.current().text);
  const std::size_t start = at_.current().offset;
  at_.skip_directive();
  i.text = at_.text_since(start);
  if (i.text.ends_with(';')) i.text.remove_suffix(1);
  while (i.text.ends_with(' ') || i.text.ends_with('\t')) i.text.remove_suffix(1);
  i.first_operand = static_cast<std::uint32_t>(out_.operands.size());
  push(statement_kind::instruction, out_.instructions.size());
  out_.instructions.push_back(i);
}

void body_parser::label_or_instruction() {
  instruction i;
  i.line = at_.current().line;
  i.column = at_.current().column;
  const std::size_t start = at_.current().offset;
  if (at_.at('@')) guard(i);
  if (!at_.at(token_kind::identifier)) at_.fail_expected("an instruction");
  at_.extend_word();
  const token word = at_.advance();
  if (i.guard == no_index && at_.at(':')) {
    at_.advance();
    if (at_.at_directive(".branchtargets") || at_.at_directive(".calltargets")) {
      return targets(word);
    }
    if (at_.at_directive(".callprototype")) return prototype(word);
    return label_at(word);
  }
  instruction_at(start, word, i);
}

void body_parser::label_at(const token& name) {
  const auto index = static_cast<std::uint32_t>(out_.labels.size());
  declare(name.text, name_kind::label, index, name);
  push(statement_kind::label, index);
  out_.labels.push_back(
      {name.text, static_cast<std::uint32_t>(out_.instructions.size()), false, name.line});
}

void body_parser::targets(const token& name) {
  target_list list;
  list.name = name.text;
  list.line = name.line;
  list.is_call = at_.advance().text == ".calltargets";
  const auto index = static_cast<std::uint32_t>(out_.target_lists.size());
  declare(name.text, name_kind::target_list, index, name);
  do {
    pending p;
    p.place.function = index_;
    p.place.list = index;
    p.place.element = static_cast<std::uint32_t>(list.names.size());
    p.name = at_.expect_identifier("a target");
    pending_.push_back(p);
    list.names.push_back(p.name);
    list.indices.push_back(no_index);
  } while (at_.accept(','));
  at_.expect(';', "after a list of targets");
  push(statement_kind::target_list, index);
  out_.target_lists.push_back(std::move(list));
}

void body_parser::prototype(const token& name) {
  at_.advance();
  call_prototype p;
  p.name = name.text;
  p.line = name.line;
  if (at_.at('(')) p.return_parameters = parse_parameters(at_);
  at_.expect_identifier("'_' in place of the function's name");
  if (at_.at('(')) p.parameters = parse_parameters(at_);
  const std::size_t start = at_.current().offset;
  at_.skip_to_semicolon();
  p.directives = at_.text_since(start);
  at_.advance();
  declare(name.text, name_kind::prototype, static_cast<std::uint32_t>(out_.prototypes.size()),
          name);
  push(statement_kind::prototype, out_.prototypes.size());
  out_.prototypes.push_back(std::move(p));
}

void body_parser::guard(instruction& i) {
  at_.advance();
  i.is_guard_negated = at_.accept('!');
  const token name = at_.current();
  at_.expect_identifier("a predicate register");
  const auto index = operands_.register_index(name.text);
  if (!index) at_.fail(name, "predicate '" + std::string{name.text} + "' is not declared");
  i.guard = *index;
}

// Returns the full mnemonic, also if it is split as in "ld .global .f32".
std::string_view body_parser::full_mnemonic(const token& first) {
  if (!at_.at(token_kind::directive)) return first.text;
  std::string joined{first.text};
  while (at_.at(token_kind::directive)) joined += at_.advance().text;
  const auto match = shared_.mnemonic_ids.find(joined);
  if (match != shared_.mnemonic_ids.end()) return match->first;
  return shared_.out.joined_text.emplace_back(std::move(joined));
}

void body_parser::instruction_at(std::size_t start, const token& word, instruction i) {
  if (word.text.front() == '%' || word.text.front() == '$') {
    at_.fail(word, token_text(word) + " is not an instruction");
  }
  i.mnemonic = shared_.intern(full_mnemonic(word));
  i.opcode = shared_.out.mnemonics[i.mnemonic].opcode;
  i.location = location_;
  operands(i);
  i.text = at_.text_since(start);
  at_.expect(';', "after an instruction");
  push(statement_kind::instruction, out_.instructions.size());
  out_.instructions.push_back(i);
}

void body_parser::operands(instruction& i) {
  const std::size_t before = out_.operands.size();
  i.first_operand = static_cast<std::uint32_t>(before);
  if (i.opcode == opcode::unknown) return at_.skip_to_semicolon();
  const bool is_unknown_form = shared_.out.mnemonics[i.mnemonic].has_unknown_word;
  const cursor start = at_;
  try {
    const operand_range range = operands_.parse(i.opcode == opcode::call);
    if (!at_.at(';')) at_.fail_expected("';' after an instruction");
    i.first_operand = range.first;
    i.operand_count = range.count;
  } catch (const syntax_error&) {
    // An unknown variant of an instruction may have operands of an unknown form.
    if (!is_unknown_form) throw;
    at_ = start;
    operands_.truncate(before);
    at_.skip_to_semicolon();
  }
  collect_unresolved_operands();
}

void body_parser::collect_unresolved_operands() {
  for (const std::uint32_t index : operands_.unresolved_operands()) {
    pending p;
    p.place.function = index_;
    p.place.operand = index;
    p.name = out_.operands[index].name;
    pending_.push_back(p);
  }
  operands_.unresolved_operands().clear();
}

}  // namespace halfwarp::emulator::ptx::syntax
