// SPDX-License-Identifier: Apache-2.0
// Parses the outermost level of a PTX text.
#include "emulator/ptx/parser.hpp"

#include <charconv>
#include <new>
#include <utility>

#include "emulator/ptx/syntax/context.hpp"
#include "emulator/ptx/syntax/function.hpp"
#include "emulator/ptx/syntax/variable.hpp"

namespace halfwarp::emulator::ptx {
namespace syntax {
namespace {

class module_parser {
 public:
  explicit module_parser(module& out) : shared_{cursor{*out.text}, out, {}, {}} {}

  void run() {
    if (!at_.at_directive(".version")) at_.fail_expected(".version at the start of the PTX text");
    while (!at_.at(token_kind::end)) statement();
    if (out_.target.empty()) at_.fail("the PTX text has no .target directive");
    resolve(shared_);
  }

 private:
  struct handler {
    std::string_view word;
    void (module_parser::*run)();
  };
  static constexpr std::array<handler, 8> handlers() {
    return {{{".version", &module_parser::version},
             {".target", &module_parser::target},
             {".address_size", &module_parser::address_size},
             {".file", &module_parser::file},
             {".pragma", &module_parser::pragma},
             {".section", &module_parser::section},
             {".alias", &module_parser::alias},
             {".loc", &module_parser::line}}};
  }

  static bool is_known(std::string_view word) {
    for (const handler& h : handlers()) {
      if (h.word == word) return true;
    }
    return word == ".func" || word == ".entry" || word == ".visible" || word == ".weak" ||
           word == ".extern" || word == ".common" || is_variable_space(word);
  }

  static bool is_variable_space(std::string_view word) {
    return begins_variable(word) && word != ".param";
  }

  void statement() {
    if (at_.accept(';')) return;
    if (!at_.at(token_kind::directive)) at_.fail_expected("a directive");
    for (const handler& h : handlers()) {
      if (at_.at_directive(h.word)) return (this->*h.run)();
    }
    const std::size_t start = at_.current().offset;
    const std::uint32_t line = at_.current().line;
    const linkage link = parse_linkage(at_);
    const std::string_view word = at_.current().text;
    if (!at_.at(token_kind::directive)) at_.fail_expected("a directive");
    if (is_variable_space(word)) return variables(link);
    if (word != ".func" && word != ".entry") return unknown(start, line);
    record_item(item_kind::function, out_.functions.size());
    parse_function(shared_, link);
  }

  void record_item(item_kind kind, std::size_t index) {
    out_.items.push_back({kind, static_cast<std::uint32_t>(index)});
  }

  void version() {
    if (out_.version_major) at_.fail("the PTX text has two versions");
    at_.advance();
    const token t = at_.current();
    const std::size_t dot = t.text.find('.');
    if (t.kind != token_kind::double_bits || dot == std::string_view::npos) {
      at_.fail_expected("a version such as 8.5");
    }
    std::from_chars(t.text.data(), t.text.data() + dot, out_.version_major);
    std::from_chars(t.text.data() + dot + 1, t.text.data() + t.text.size(), out_.version_minor);
    at_.advance();
  }

  void target() {
    at_.advance();
    out_.target = at_.expect_identifier("a target such as sm_90");
    out_.target_flags.clear();
    while (at_.accept(',')) out_.target_flags.push_back(at_.expect_identifier("a target option"));
  }

  void address_size() {
    if (has_address_size_) at_.fail("the PTX text has two sizes of addresses");
    has_address_size_ = true;
    at_.advance();
    const token written = at_.current();
    out_.address_size = at_.expect_number("an address size");
    if (out_.address_size != 64) at_.fail(written, "only addresses of 64 bits are supported");
  }

  void file() {
    at_.advance();
    source_file added;
    added.number = at_.expect_number("the number of a file");
    if (!at_.at(token_kind::string)) at_.fail_expected("the path of a file");
    const std::uint32_t line = at_.current().line;
    added.path = at_.advance().text;
    while (at_.current().line == line && !at_.at(token_kind::end)) at_.advance();
    record_item(item_kind::file, out_.files.size());
    out_.files.push_back(added);
  }

  void pragma() {
    at_.advance();
    if (!at_.at(token_kind::string)) at_.fail_expected("the string of a pragma");
    do {
      record_item(item_kind::pragma, out_.pragmas.size());
      out_.pragmas.push_back(at_.advance().text);
    } while (at_.accept(',') && at_.at(token_kind::string));
    at_.expect(';', "after a pragma");
  }

  void section() {
    while (!at_.at('{')) {
      if (at_.at(token_kind::end)) at_.fail_expected("'{' after .section");
      at_.advance();
    }
    at_.skip_balanced();
  }

  void alias() {
    ptx::alias added;
    added.line = at_.advance().line;
    added.name = at_.expect_identifier("the name of an alias");
    at_.expect(',', "after the name of an alias");
    added.target = at_.expect_identifier("the function of an alias");
    at_.expect(';', "after an alias");
    record_item(item_kind::alias, out_.aliases.size());
    out_.aliases.push_back(added);
  }

  void line() { at_.skip_directive(); }

  void variables(linkage link) {
    for (variable& v : parse_variables(at_, link)) {
      const auto index = static_cast<std::uint32_t>(out_.variables.size());
      const auto [place, is_new] =
          out_.symbols.try_emplace(v.name, module::symbol{symbol_kind::module_variable, index});
      const bool was_declared = !is_new && place->second.kind == symbol_kind::module_variable &&
                                out_.variables[place->second.index].linkage == linkage::extern_;
      if (was_declared && v.linkage != linkage::extern_) place->second.index = index;
      record_item(item_kind::variable, index);
      out_.variables.push_back(std::move(v));
    }
  }

  // Skips an unknown directive: to a semicolon, a block in braces, or before a known directive.
  void unknown(std::size_t start, std::uint32_t line) {
    at_.advance();
    while (!at_.at(token_kind::end)) {
      if (at_.at(';')) break;
      if (at_.at('{')) {
        at_.skip_balanced();
        break;
      }
      if (at_.at('}')) at_.fail_expected("a directive");
      if (at_.at(token_kind::directive) && is_known(at_.current().text)) break;
      at_.advance();
    }
    record_item(item_kind::unknown, out_.unknown_directives.size());
    out_.unknown_directives.push_back({at_.text_since(start), line});
    at_.accept(';');
  }

  context shared_;
  cursor& at_ = shared_.at;
  module& out_ = shared_.out;
  bool has_address_size_ = false;
};

std::string_view without_padding(std::string_view text) noexcept {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  return text;
}

}  // namespace
}  // namespace syntax

std::string parse_error::to_text() const {
  const std::string place = line == 0 ? "" : ", line " + std::to_string(line);
  return "ptx input" + place + "; error: " + message;
}

static parse_result parse_or_report(std::string_view text) {
  constexpr std::size_t max_text_bytes = 0xffff'ffffu;  // offsets and counts have 32 bits
  parse_result result;
  try {
    if (text.size() > max_text_bytes)
      throw syntax::syntax_error{0, 0, "the text is longer than 4 GiB"};
    auto parsed = std::make_shared<module>();
    parsed->text = std::make_shared<const std::string>(syntax::without_padding(text));
    syntax::module_parser{*parsed}.run();
    result.value = std::move(parsed);
  } catch (syntax::syntax_error& error) {
    result.error = {error.line, error.column, std::move(error.message)};
    result.log = result.error.to_text() + '\n';
  }
  return result;
}

parse_result parse(std::string_view text) noexcept {
  try {
    return parse_or_report(text);
  } catch (const std::bad_alloc&) {
    return {nullptr, {0, 0, "out of memory"}, {}};  // the short string needs no allocation
  }
}

}  // namespace halfwarp::emulator::ptx
