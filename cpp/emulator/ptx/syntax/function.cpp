// SPDX-License-Identifier: Apache-2.0
// Parses function heads: results, name, parameters and performance directives.
#include "emulator/ptx/syntax/function.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "emulator/ptx/body/body.hpp"
#include "emulator/ptx/syntax/variable.hpp"

namespace halfwarp::emulator::ptx::syntax {
namespace {

struct number_directive {
  std::string_view word;
  std::uint32_t function_directives::*field;
};
constexpr std::array number_directives = {
    number_directive{".minnctapersm", &function_directives::minnctapersm},
    number_directive{".maxnctapersm", &function_directives::maxnctapersm},
    number_directive{".maxnreg", &function_directives::maxnreg},
    number_directive{".maxclusterrank", &function_directives::maxclusterrank},
};

struct size_directive {
  std::string_view word;
  dimensions3 function_directives::*field;
};
constexpr std::array size_directives = {
    size_directive{".maxntid", &function_directives::maxntid},
    size_directive{".reqntid", &function_directives::reqntid},
    size_directive{".reqnctapercluster", &function_directives::reqnctapercluster},
};

struct flag_directive {
  std::string_view word;
  bool function_directives::*field;
};
constexpr std::array flag_directives = {
    flag_directive{".noreturn", &function_directives::noreturn},
    flag_directive{".explicitcluster", &function_directives::explicitcluster},
    flag_directive{".blocksareclusters", &function_directives::blocksareclusters},
};

template <class Table>
auto find_directive(const Table& table, std::string_view word) -> decltype(table.data()) {
  const auto row = std::ranges::find(table, word, &Table::value_type::word);
  return row == table.end() ? nullptr : &*row;
}

// A cluster of no blocks has no size.
dimensions3 parse_size(cursor& at, bool may_be_absent) {
  dimensions3 size;
  const token first = at.current();
  size.value = {at.expect_number("a size"), 1, 1};
  if (!size.is_present() && !may_be_absent) at.fail(first, "a size is positive");
  for (std::size_t i = 1; i < size.value.size() && at.accept(','); ++i) {
    const token next = at.current();
    size.value[i] = at.expect_number("a size");
    if (size.value[i] == 0 && !may_be_absent) at.fail(next, "a size is positive");
  }
  return size;
}

void parse_pragmas(cursor& at, function_directives& out) {
  do {
    if (!at.at(token_kind::string)) at.fail_expected("the string of a pragma");
    out.pragmas.push_back(at.advance().text);
  } while (at.accept(','));
  at.expect(';', "after a pragma");
}

// Stores the text up to the next directive, the body or the semicolon.
void parse_unknown(cursor& at, function_directives& out) {
  const std::size_t start = at.current().offset;
  at.advance();
  while (!at.at(token_kind::directive) && !at.at('{') && !at.at(';')) {
    if (at.at(token_kind::end)) at.fail_expected("'{' or ';'");
    if (at.at('(')) {
      at.skip_balanced();
    } else {
      at.advance();
    }
  }
  out.unknown.push_back(at.text_since(start));
}

void parse_directive(cursor& at, function_directives& out) {
  if (!at.at(token_kind::directive)) at.fail_expected("'{' or ';'");
  const std::string_view word = at.current().text;
  if (const auto* number = find_directive(number_directives, word)) {
    at.advance();
    const token written = at.current();
    out.*number->field = at.expect_number("a number");
    if (out.*number->field == 0 && word != ".maxclusterrank")
      at.fail(written, "a limit is positive");
  } else if (const auto* size = find_directive(size_directives, word)) {
    at.advance();
    out.*size->field = parse_size(at, word == ".reqnctapercluster");
  } else if (const auto* flag = find_directive(flag_directives, word)) {
    at.advance();
    out.*flag->field = true;
  } else if (at.accept_directive(".pragma")) {
    parse_pragmas(at, out);
  } else {
    parse_unknown(at, out);
  }
}

void parse_head(cursor& at, function& f) {
  f.is_entry = at.advance().text == ".entry";
  bool is_managed = false;
  while (at.at_directive(".attribute")) f.attributes = parse_attribute(at, is_managed);
  if (!f.is_entry && at.at('(')) f.return_parameters = parse_parameters(at);
  f.line = at.current().line;
  f.name = at.expect_identifier("the name of a function");
  if (at.at('(')) f.parameters = parse_parameters(at);
  const parameter_block results = layout_of(f.return_parameters), block = layout_of(f.parameters);
  f.return_bytes = results.bytes;
  f.return_alignment = results.alignment;
  f.parameter_bytes = block.bytes;
  f.parameter_alignment = block.alignment;
  while (!at.at('{') && !at.at(';')) parse_directive(at, f.directives);
}

// A definition replaces declarations. The first declaration replaces later ones.
void register_symbol(module& out, const function& f, std::uint32_t index) {
  const auto [place, is_new] =
      out.symbols.try_emplace(f.name, module::symbol{symbol_kind::function, index});
  if (is_new || place->second.kind != symbol_kind::function) return;
  const bool is_known = out.functions[place->second.index].is_definition;
  if (f.is_definition && !is_known) place->second.index = index;
}

}  // namespace

void parse_function(context& shared, linkage link) {
  function f;
  f.linkage = link;
  parse_head(shared.at, f);
  const auto index = static_cast<std::uint32_t>(shared.out.functions.size());
  f.is_definition = shared.at.at('{');
  if (f.is_definition) {
    body_parser{shared, f, index}.run();
  } else {
    shared.at.expect(';', "after a declaration");
  }
  register_symbol(shared.out, f, index);
  shared.out.functions.push_back(std::move(f));
}

}  // namespace halfwarp::emulator::ptx::syntax
